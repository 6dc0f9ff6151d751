import { curlChecks } from './checks/curl.ts';
import { duckdbChecks } from './checks/duckdb.ts';
import type { Check } from './checks/expect.ts';
import { pythonChecks } from './checks/python.ts';
import { rChecks } from './checks/r.ts';
import { workbookChecks } from './checks/workbooks.ts';

/** The check of each recipe's result, by the recipe's path in `recipes/`. */
export const checks: Readonly<Record<string, Check>> = { ...curlChecks, ...pythonChecks, ...rChecks, ...duckdbChecks };

/** The check of each program to run, by its path from `recipes/`. */
export const programChecks: Readonly<Record<string, Check>> = { ...checks, ...workbookChecks };
