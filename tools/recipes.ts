// npm run recipes: runs the recipes of docs/recipes.md against the service and checks what comes out.
import { Command, InvalidArgumentError } from 'commander';
import { UserError, reasonOf, runCommand } from './command.ts';
import { type Language, type RecipeFile, recipeFiles } from './recipes/catalogue.ts';
import { checks } from './recipes/checks.ts';
import { type Interpreter, type Missing, findInterpreter } from './recipes/interpreters.ts';
import { type Trials, prepareTrials } from './recipes/trial.ts';

const LANGUAGES = Object.keys(findInterpreter) as Language[];
type Outcome = 'ran' | 'not run' | 'FAILED';

const program = new Command('npm run recipes --')
  .description(
    'Starts the service with demo data, runs every recipe whose language is on this machine, and checks its result. ' +
      'Python is that of the variable PYTHON, or the first python3 that has requests and pandas; DuckDB may be a module of it.',
  )
  .option('--require <languages>', `fail when one of these cannot be run: ${LANGUAGES.join(',')}`, parseLanguages, [])
  .allowExcessArguments(false);

function parseLanguages(text: string): Language[] {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !LANGUAGES.includes(name as Language));
  if (unknown !== undefined) throw new InvalidArgumentError(`"${unknown}" is none of ${LANGUAGES.join(', ')}.`);
  return names as Language[];
}

await runCommand(async () => {
  const { require: required } = program.parse().opts<{ require: Language[] }>();
  const found = new Map<Language, Interpreter | Missing>();
  for (const language of LANGUAGES) found.set(language, await findInterpreter[language]());
  for (const [language, it] of found) say(`${language.padEnd(6)}  ${'missing' in it ? it.missing : it.version}`);

  const unmet = required.filter((language) => 'missing' in (found.get(language) ?? { missing: '' }));
  if (unmet.length > 0) throw new UserError(`required, but not on this machine: ${unmet.join(', ')}`);
  if (![...found.values()].some((it) => 'run' in it)) throw new UserError('no recipe could be run on this machine');

  const trials = await prepareTrials();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => void trials.stop().finally(() => process.exit(1)));
  const outcomes: Outcome[] = [];
  try {
    for (const recipe of recipeFiles) outcomes.push(await runRecipe(recipe, found, trials));
  } finally {
    await trials.stop();
  }
  const counted = (outcome: Outcome) => outcomes.filter((one) => one === outcome).length;
  say(`${counted('ran')} ran, ${counted('not run')} not run, ${counted('FAILED')} failed`);
  if (counted('FAILED') > 0) process.exitCode = 1;
});

async function runRecipe(
  { path, language }: RecipeFile,
  found: ReadonlyMap<Language, Interpreter | Missing>,
  trials: Trials,
): Promise<Outcome> {
  const report = (outcome: Outcome, words: string): Outcome => {
    say(`${outcome.padEnd(7)}  ${path.padEnd(28)}  ${words}`);
    return outcome;
  };
  const interpreter = language && found.get(language);
  if (!interpreter) return report('not run', 'it takes a person to click');
  if ('missing' in interpreter) return report('not run', interpreter.missing);
  try {
    const check = checks[path];
    if (!check) throw new Error('nobody has written down what its result has to be');
    const start = Date.now();
    const words = await check(trials.of(path, interpreter));
    return report('ran', `${words} (${((Date.now() - start) / 1000).toFixed(1)} s)`);
  } catch (error) {
    return report('FAILED', reasonOf(error));
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
