// Jobs for /_penstock/simulate, and what their reports say. Pure.

export const strategies = ['default', 'binary', 'hex', 'round-robin'] as const;
export type Strategy = (typeof strategies)[number];

export const clients = ['standard', 'adaptive', 'legacy', 'crt', 'penstock'] as const;

export interface Plan {
  operation: 'save' | 'load' | 'list';
  ranks: number;
  filesPerRank: number;
  fileMebibytes: number;
  warmPartitions: number;
  startSpreadSeconds: number;
  client: string;
  prefixes: readonly string[]; // Of the strategy round-robin.
  limits: Readonly<Record<string, unknown>>; // `limits` and the values that replace its own.
}

export function jobOf(plan: Plan, strategy: Strategy): Record<string, unknown> {
  return {
    operation: plan.operation,
    ranks: plan.ranks,
    files_per_rank: plan.filesPerRank,
    file_bytes: Math.round(plan.fileMebibytes * 1_048_576),
    warm_partitions: plan.warmPartitions,
    start_spread_s: plan.startSpreadSeconds,
    client: plan.client,
    strategy,
    ...(strategy === 'round-robin' ? { prefixes: plan.prefixes } : {}),
    ...plan.limits,
  };
}

// 'a, b' or 'a b' as a list.
export function prefixesOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((prefix) => prefix !== '');
}

export interface Report {
  strategy: Strategy;
  requests: number;
  refused: number;
  retries: number;
  gave_up: number;
  rounds: readonly { lasted_s: number; completed: boolean; ranks_failed: number }[];
  intervals: readonly { requests: number; refused: number; partitions: number }[];
}

export interface Outcome {
  strategy: Strategy;
  completed: boolean;
  seconds: number; // Of the longest round.
  requests: number;
  refused: number;
  retries: number;
  ranksFailed: number;
  partitions: number; // At the end.
}

export function outcomeOf(report: Report): Outcome {
  return {
    strategy: report.strategy,
    completed: report.rounds.every((round) => round.completed),
    seconds: Math.max(0, ...report.rounds.map((round) => round.lasted_s)),
    requests: report.requests,
    refused: report.refused,
    retries: report.retries,
    ranksFailed: report.rounds.reduce((sum, round) => sum + round.ranks_failed, 0),
    partitions: report.intervals.at(-1)?.partitions ?? 1,
  };
}
