import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UserError } from '../command.ts';
import { RECIPES } from './catalogue.ts';

export interface Recipe {
  readonly title: string;
  /** Markdown. */
  readonly explanation: string;
  /** The program without its initial comment; empty for a Markdown file. */
  readonly code: string;
}

/** The initial comment: a title, an empty line, and the explanation. */
const HEAD = /^(?:#!.*\n)?((?:(?:#|--)(?: .*)?\n)+)\n/;

/**
 * Reads a file of `recipes/`: a program that starts with a comment, or Markdown that starts with a heading.
 *
 * @param path relative to that folder
 * @throws UserError if it starts differently
 */
export async function readRecipe(path: string): Promise<Recipe> {
  const text = await readFile(join(RECIPES, path), 'utf8');
  if (path.endsWith('.md')) return parseHead(path, text, '');
  const [all, comment] = HEAD.exec(text) ?? [];
  if (all === undefined || comment === undefined) throw new UserError(`recipes/${path} does not start with a comment`);
  return parseHead(path, `# ${comment.replaceAll(/^(?:#|--) ?/gm, '')}`, text.slice(all.length));
}

function parseHead(path: string, text: string, code: string): Recipe {
  const [, title, explanation] = /^# (.+)\n\n([^]+)$/.exec(text) ?? [];
  if (title === undefined || explanation === undefined)
    throw new UserError(`recipes/${path} does not start with a title, an empty line and an explanation`);
  return { title, explanation: explanation.trim(), code: code.trim() };
}
