// npm run db:remove: deletes a survey, or one participant's responses to it.
import { commandLine, counted, needs, print, runCommand } from './command.ts';
import { openForCommand } from './database.ts';
import { printable } from './keys/printable.ts';
import { type Removal, type RemovalTarget, removeSurvey } from './remove/remove-survey.ts';

const program = commandLine('npm run db:remove --')
  .description(
    "Deletes a survey with its form versions, or one participant's responses to it. Without --yes it only shows what it " +
      'would delete.',
  )
  .option('--email <address>', 'account that the survey belongs to')
  .option('--survey <name>', 'name of the survey')
  .option('--userid <id>', "delete only this participant's responses, and keep the form versions")
  .option('--yes', 'delete; this cannot be undone')
  .addHelpText(
    'after',
    `
The account and its API keys are kept. The database is DATABASE_URL, or else that of the npm start that is running on
DATA_DIR (.data).

Examples:
  npm run db:remove -- --email ann@example.org --survey "Health 2026"
  npm run db:remove -- --email ann@example.org --survey "Health 2026" --yes
  npm run db:remove -- --email ann@example.org --survey "Health 2026" --userid 2000921492222525 --yes`,
  )
  .hook('preAction', needs('--email', '--survey'))
  .action(async ({ yes: isConfirmed = false, ...target }: RemovalTarget & { yes?: boolean }) => {
    const database = await openForCommand();
    const removal = await removeSurvey(database.url, target, { isConfirmed });
    print(format(removal, target, isConfirmed));
  });

await runCommand(() => program.parseAsync());

function format(removal: Removal, { survey, userid }: RemovalTarget, isConfirmed: boolean): string {
  const verb = isConfirmed ? 'deleted' : 'would delete';
  const { email, responses, participants, formVersions, first, last } = removal;
  const range = first === null ? '' : `, from ${first} to ${last}`;
  const lines = [
    printable(`account ${email}, survey "${survey}"`),
    `${verb} ${counted(responses, 'response')} of ${counted(participants, 'participant')}${range}`,
    ...(userid === undefined ? [`${verb} ${counted(formVersions, 'form version')}`] : []),
    ...(isConfirmed ? [] : ['nothing was deleted: repeat the command with --yes to delete this']),
  ];

  return lines.join('\n');
}
