// Fault scenarios as the page handles them: their rules, and what is left of each. Pure.
import { count } from './format.ts';
import { isObject, type Json, type JsonObject } from './schema.ts';

export interface RuleAccount {
  id: string;
  matched: number;
  fired: number;
  under_way: number;
  complete: boolean;
  request_ids: readonly string[];
  remaining?: number; // Without a limit for the whole scenario there is none.
}

export interface FaultAccount {
  name: string;
  seed: number;
  requests: number;
  fired: number;
  complete: boolean;
  rules: readonly RuleAccount[];
  replaced?: readonly FaultAccount[];
  scenario?: Json; // As it was given.
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

// How often a rule can still fire. `rule`: as it was given.
export function remainingText(rule: Json | undefined, account: RuleAccount): string {
  if (account.remaining !== undefined) return count(account.remaining);
  const limit = isObject(rule) ? rule['limit'] : undefined;
  return isObject(limit) && typeof limit['times'] === 'number' ? `${count(limit['times'])} per ${String(limit['per'])}` : 'no limit';
}
