import type { TxtDocumentNode } from '@textlint/ast-node-types';
import type { TextlintMessage, TextlintPluginCreator } from '@textlint/types';
import { parseSync, Visitor } from 'rolldown/utils';
import { LineCounter } from 'yaml';

/** A piece of prose in a source file. */
interface Piece {
  readonly start: number;
  readonly end: number;
}

/**
 * Makes textlint read comments and strings of TypeScript and JavaScript, titles of tests, and comments and messages of scripts, Dockerfiles and
 * configuration.
 */
const plugin: TextlintPluginCreator = {
  Processor: class {
    availableExtensions() {
      return ['.ts', '.js', '.yml', '.yaml', '.json', '.conf', '.example'];
    }
    processor(extension: string) {
      return {
        preProcess: (text: string, filePath = '') => document(text, piecesOf(text, extension, filePath)),
        postProcess: (messages: TextlintMessage[], filePath = '<text>') => ({ messages, filePath }),
      };
    }
  },
};
export default plugin;

function piecesOf(text: string, extension: string, filePath: string): Piece[] {
  if (filePath.endsWith('.test.ts')) return ofTests(text);
  if (extension === '.ts' || extension === '.js') return ofTypeScript(text);
  return ofScript(text);
}

/** Titles of `test` and `describe`, also after `.each` and the like. */
function ofTests(text: string): Piece[] {
  const titles =
    /^[ \t]*(?:(?:await )?(?:test|describe)\w*(?:\.\w+)*\((?:[^()\n]*\)\()?|.*\] as const\)\(|.*\]\)\()\s*(?:'((?:[^'\\\n]|\\.)*)'|`([^`]*)`)/gm;
  return [...text.matchAll(titles)].flatMap(({ 0: all, 1: quoted, 2: template, index }) => {
    const title = quoted ?? template ?? '';
    const end = index + all.length - 1;
    return prose(text, end - title.length, end);
  });
}

/** Comments, in blocks of lines, the strings that a script prints, and the texts of alerts and dashboards. */
function ofScript(text: string): Piece[] {
  const comments = text.matchAll(/(?:(?:^|(?<=\s))#(?!!).*(?:\n[ \t]*(?=#))?)+/gm);
  const printed = text.matchAll(/(?<=\b(?:echo|printf|skip|give_up)\b[^\n"'#]*)(?:"[^"\n]*"|'[^'\n]*')/g);
  const shown = text.matchAll(/(?<=\b(?:summary|description|title)"?: ).+/g);
  return [...comments, ...printed, ...shown].flatMap(({ 0: piece, index }) => prose(text, index, index + piece.length));
}

function ofTypeScript(text: string): Piece[] {
  const { program, comments, errors } = parseSync('source.ts', text);
  if (errors[0]) throw new Error(errors[0].message);
  const blocks: { start: number; end: number }[] = [];
  for (const { start, end } of comments) {
    const before = blocks.at(-1);
    // A phrase may go on in the next line's comment.
    if (before && !text.slice(before.end, start).trim()) before.end = end;
    else blocks.push({ start, end });
  }
  const pieces = blocks.flatMap(({ start, end }) => prose(text, start, end));
  const string = (raw: string, end: number) => {
    // A string without a space is data, such as a key or a media type.
    if (/\s/.test(raw)) pieces.push(...prose(text, end - raw.length, end));
  };
  new Visitor({
    Literal: ({ raw, end }) => raw && string(raw, end),
    // Its own start and end may include the delimiters.
    TemplateElement: ({ value, start }) => {
      const from = start + Number(text[start] === '`' || text[start] === '}');
      string(value.raw, from + value.raw.length);
    },
  }).visit(program);
  return pieces;
}

/** What is left of a text without its `code`. */
function prose(text: string, from: number, to: number): Piece[] {
  return [...text.slice(from, to).matchAll(/`[^`]*`|[^`]+/g)]
    .filter(([piece]) => !piece.startsWith('`'))
    .map(({ 0: piece, index }) => ({ start: from + index, end: from + index + piece.length }));
}

function document(text: string, pieces: readonly Piece[]): TxtDocumentNode {
  const lines = new LineCounter();
  for (const { index } of text.matchAll(/^/gm)) lines.addNewLine(index);
  const position = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col - 1 };
  };
  const node = (type: string, { start, end }: Piece) => ({
    type,
    raw: text.slice(start, end),
    range: [start, end] as const,
    loc: { start: position(start), end: position(end) },
  });
  const children = pieces.map((piece) => ({ ...node('Str', piece), value: text.slice(piece.start, piece.end) }));
  return { ...node('Document', { start: 0, end: text.length }), children } as TxtDocumentNode;
}
