import { curlChecks } from './checks/curl.ts';
import { duckdbChecks } from './checks/duckdb.ts';
import type { Check } from './checks/expect.ts';
import { pythonChecks } from './checks/python.ts';
import { rChecks } from './checks/r.ts';

/** What a recipe's result has to be, by its path in `recipes/`. */
export const checks: Readonly<Record<string, Check>> = { ...curlChecks, ...pythonChecks, ...rChecks, ...duckdbChecks };
