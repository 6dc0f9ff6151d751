import { Client } from 'pg';
import { afterAll, expect } from 'vitest';
import { Proof } from '../../src/db/proof.ts';
import type { Query } from '../../src/db/sql.ts';
import { startDatabase } from '../support/database.ts';

/** A node of a plan in EXPLAIN's JSON. */
export interface Plan {
  readonly 'Node Type': string;
  readonly 'Parent Relationship'?: string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly 'Function Name'?: string;
  readonly Filter?: string;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly Plans?: readonly Plan[];
}

/** Creates a database for a test file. @returns a connection of its owner */
export async function connectToNew(): Promise<Client> {
  const database = await startDatabase();
  const client = new Client(database.url);
  await client.connect();
  afterAll(async () => {
    await client.end();
    await database.stop();
  });
  return client;
}

/** Applies the settings of the Worker's role. */
export async function useWorkerSettings(client: Client): Promise<void> {
  await client.query(
    `select set_config(split_part(setting, '=', 1), split_part(setting, '=', 2), false)
     from pg_roles, unnest(rolconfig) setting where rolname = 'survey_export_worker'`,
  );
}

/**
 * Runs a query as the service sends it, and checks that its rows come before the last one: an Append
 * that is not parallel reads its parts in order.
 *
 * @returns the nodes of the plan of its rows, the root first
 */
export async function explain(client: Client, query: Query): Promise<Plan[]> {
  const { text, params } = new Proof(query).statement;
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    `explain (analyze, buffers, timing off, format json) ${text}`,
    params,
  );
  const all = (plan: Plan): Plan[] => [plan].concat((plan.Plans ?? []).flatMap(all));
  const root = rows[0]?.['QUERY PLAN'][0].Plan;
  const parts = root?.Plans?.filter((plan) => plan['Parent Relationship'] === 'Member') ?? [];
  expect([root?.['Node Type'], parts.length, parts[1]?.['Node Type']]).toEqual([
    'Append',
    2,
    'Result',
  ]);
  return parts.slice(0, 1).flatMap(all);
}
