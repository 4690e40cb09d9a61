// Fault scenarios as the page handles them: their rules, and what is left of each. Pure.
import { isObject, type Json, type JsonObject } from './schema.ts';

export interface RuleAccount {
  id: string;
  matched: number;
  fired: number;
  under_way: number;
  complete: boolean;
  request_ids: readonly string[];
}

export interface FaultAccount {
  name: string;
  seed: number;
  requests: number;
  fired: number;
  complete: boolean;
  rules: readonly RuleAccount[];
  replaced?: readonly FaultAccount[];
}

// What to say about a scenario or a rule. One that may stay unused is complete from the start, which proves nothing.
export function stateText(account: { fired: number; complete: boolean }, incomplete: string): { text: string; tone: 'ok' | 'warning' | 'neutral' } {
  if (!account.complete) return { text: incomplete, tone: 'warning' };
  return account.fired > 0 ? { text: 'complete', tone: 'ok' } : { text: 'nothing fired', tone: 'neutral' };
}

export interface NamedScenario {
  name: string;
  about: string;
  rules: readonly JsonObject[];
}

// Every form of a scenario as an object with rules, so that one form edits all of them. A named scenario becomes its rules.
export function withRules(scenario: Json, named: readonly NamedScenario[]): JsonObject {
  if (Array.isArray(scenario)) return { rules: scenario as readonly Json[] };
  if (!isObject(scenario)) return { rules: [] };
  if (typeof scenario['scenario'] !== 'string') return 'rules' in scenario ? scenario : { ...scenario, rules: [] };
  const { scenario: name, seed, bucket, key } = scenario;
  const rules = (named.find((one) => one.name === name)?.rules ?? []).map((rule) => {
    const when: JsonObject = { ...(isObject(rule['when']) ? rule['when'] : {}), ...(bucket === undefined ? {} : { bucket }), ...(key === undefined ? {} : { key }) };
    return Object.keys(when).length > 0 ? { ...rule, when } : rule;
  });
  return { name: name as string, ...(seed === undefined ? {} : { seed }), rules };
}

export function ruleId(rule: Json, index: number): string {
  return isObject(rule) && typeof rule['id'] === 'string' && rule['id'] !== '' ? rule['id'] : `rule-${index + 1}`;
}

export function actionNames(rule: Json): string[] {
  const actions = isObject(rule) ? rule['do'] : undefined;
  const list = Array.isArray(actions) ? (actions as readonly Json[]) : actions === undefined ? [] : [actions];
  return list.flatMap((action) => (isObject(action) ? Object.keys(action).filter((name) => name !== 'at') : typeof action === 'string' ? [action] : []));
}

// 'GetObject, key data/* → slow_down'.
export function ruleSummary(rule: Json): string {
  const when = isObject(rule) && isObject(rule['when']) ? rule['when'] : {};
  const parts = Object.entries(when).map(([name, value]) => {
    const text = typeof value === 'string' ? value : Array.isArray(value) && value.every((one) => typeof one === 'string') ? value.join(', ') : JSON.stringify(value);
    return name === 'operation' ? text : `${name} ${text}`;
  });
  return `${parts.join('; ') || 'every request'} → ${actionNames(rule).join(', ') || 'nothing'}`;
}

// Of a rule with `times` per scenario, how often it can still fire; null without such a limit, or if the rule is not known.
export function remaining(rule: Json | undefined, account: RuleAccount): number | null {
  const limit = isObject(rule) ? rule['limit'] : undefined;
  if (!isObject(limit) || typeof limit['times'] !== 'number') return null;
  if (limit['per'] !== undefined && limit['per'] !== 'scenario') return null;
  return Math.max(0, limit['times'] - account.fired - account.under_way);
}

// Whether the account is of this scenario: the page shows the scenario that it started, and another client may have replaced it.
export function isAccountOf(account: FaultAccount, scenario: JsonObject): boolean {
  const rules = Array.isArray(scenario['rules']) ? (scenario['rules'] as readonly Json[]) : [];
  const name = typeof scenario['name'] === 'string' ? scenario['name'] : '';
  return account.name === name && account.rules.length === rules.length && account.rules.every((rule, i) => rule.id === ruleId(rules[i]!, i));
}
