// npm run recipes: runs the programs in recipes/ against the service and checks their results.
import { Command, InvalidArgumentError } from 'commander';
import { UserError, messageOf, runCommand } from '../../tools/command.ts';
import { programChecks } from './checks.ts';
import { NotRun } from './checks/expect.ts';
import { type Interpreter, type Language, type Missing, findInterpreter, languageOf } from './interpreters.ts';
import { type Trials, prepareTrials } from './trial.ts';

const LANGUAGES = Object.keys(findInterpreter) as Language[];
type Outcome = 'ran' | 'not run' | 'FAILED';

const program = new Command('npm run recipes --')
  .description(
    'Starts the service with demo data, runs every recipe whose language is installed, and checks its result. ' +
      'Python is the program in PYTHON, or the first python3 with requests, pandas and survey-export; DuckDB can be one of its modules. ' +
      '"workbooks" reads Excel files with openpyxl, pandas, python-calamine and xlsx2csv.',
  )
  .option('--require <languages>', `fail if one of these is not installed: ${LANGUAGES.join(',')}`, parseLanguages, [])
  .allowExcessArguments(false);

function parseLanguages(text: string): Language[] {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !LANGUAGES.includes(name as Language));
  if (unknown !== undefined)
    throw new InvalidArgumentError(`unknown language "${unknown}"; use ${LANGUAGES.join(', ')}.`);
  return names as Language[];
}

await runCommand(async () => {
  const { require: required } = program.parse().opts<{ require: Language[] }>();
  const found = new Map<Language, Interpreter | Missing>();
  for (const language of LANGUAGES) found.set(language, await findInterpreter[language]());
  for (const [language, one] of found) print(`${language.padEnd(9)}  ${'missing' in one ? one.missing : one.version}`);

  const missing = required.filter((language) => 'missing' in (found.get(language) ?? { missing: '' }));
  if (missing.length > 0) throw new UserError(`not installed: ${missing.join(', ')}`);
  if (![...found.values()].some((one) => 'run' in one)) throw new UserError('no language is installed');

  const trials = await prepareTrials();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => void trials.stop().finally(() => process.exit(1)));
  const outcomes: Outcome[] = [];
  try {
    for (const path of Object.keys(programChecks)) outcomes.push(await runRecipe(path, found, trials));
  } finally {
    await trials.stop();
  }
  const counted = (outcome: Outcome) => outcomes.filter((one) => one === outcome).length;
  print(`${counted('ran')} ran, ${counted('not run')} not run, ${counted('FAILED')} failed`);
  process.exit(counted('FAILED') > 0 ? 1 : 0);
});

async function runRecipe(
  path: string,
  found: ReadonlyMap<Language, Interpreter | Missing>,
  trials: Trials,
): Promise<Outcome> {
  const report = (outcome: Outcome, details: string): Outcome => {
    print(`${outcome.padEnd(7)}  ${path.padEnd(35)}  ${details}`);
    return outcome;
  };
  const interpreter = found.get(languageOf(path)) ?? { missing: 'it has no language' };
  if ('missing' in interpreter) return report('not run', interpreter.missing);
  try {
    const check = programChecks[path];
    if (!check) throw new Error('it has no check in test/recipes/checks');
    const start = Date.now();
    const details = await check(trials.of(path, interpreter));
    return report('ran', `${details} (${((Date.now() - start) / 1000).toFixed(1)} s)`);
  } catch (error) {
    return report(error instanceof NotRun ? 'not run' : 'FAILED', messageOf(error));
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
