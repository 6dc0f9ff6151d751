import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UserError } from '../command.ts';
import { RECIPES } from './catalogue.ts';

export interface Recipe {
  readonly title: string;
  /** Markdown. */
  readonly explanation: string;
  /** As it is run, without what has become title and explanation; nothing in a Markdown file. */
  readonly code: string;
}

/** A comment at the beginning: its first line is the title, the rest, behind an empty line, the explanation. */
const HEAD = /^(?:#!.*\n)?((?:(?:#|--)(?: .*)?\n)+)\n/;

/**
 * Reads a file of `recipes/`: a program that begins with a comment, or Markdown that begins with a heading.
 *
 * @param path in that folder
 * @throws UserError when it does not begin so
 */
export async function readRecipe(path: string): Promise<Recipe> {
  const text = await readFile(join(RECIPES, path), 'utf8');
  if (path.endsWith('.md')) return parseHead(path, text, '');
  const [all, comment] = HEAD.exec(text) ?? [];
  if (all === undefined || comment === undefined) throw new UserError(`recipes/${path} does not begin with a comment`);
  return parseHead(path, `# ${comment.replaceAll(/^(?:#|--) ?/gm, '')}`, text.slice(all.length));
}

function parseHead(path: string, text: string, code: string): Recipe {
  const [, title, explanation] = /^# (.+)\n\n([^]+)$/.exec(text) ?? [];
  if (title === undefined || explanation === undefined)
    throw new UserError(`recipes/${path} does not begin with a title, an empty line and an explanation`);
  return { title, explanation: explanation.trim(), code: code.trim() };
}
