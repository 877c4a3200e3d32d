import type { TxtDocumentNode } from '@textlint/ast-node-types';
import type { TextlintMessage, TextlintPluginCreator } from '@textlint/types';
import { parseSync, Visitor } from 'rolldown/utils';
import { CST, Lexer, LineCounter } from 'yaml';

/** A piece of a source file: prose, or the first use of a name. */
interface Piece {
  readonly type: 'Str' | 'Identifier';
  readonly start: number;
  readonly end: number;
}

/**
 * Makes textlint read comments, strings and identifiers of TypeScript and JavaScript, titles of tests, comments and strings of YAML
 * and JSON, and comments and messages of scripts, Dockerfiles and configuration.
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
  return ['.yml', '.yaml', '.json'].includes(extension) ? ofYaml(text) : ofScript(text);
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

/** Comments, in blocks of lines, and the strings that a script prints. */
function ofScript(text: string): Piece[] {
  const comments = text.matchAll(/(?:(?:^|(?<=\s))#(?!!).*(?:\n[ \t]*(?=#))?)+/gm);
  const printed = text.matchAll(/(?<=\b(?:echo|printf|skip|give_up)\b[^\n"'#]*)(?:"[^"\n]*"|'[^'\n]*')/g);
  return [...comments, ...printed].flatMap(({ 0: piece, index }) => prose(text, index, index + piece.length));
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
  const names = new Map<string, Piece>();
  const name = ({ name, start }: { name: string; start: number }) => {
    // A node's end may be that of its type annotation.
    if (!names.has(name)) names.set(name, { type: 'Identifier', start, end: start + name.length });
  };
  const string = (raw: string, end: number) => {
    // A string without a space is data, such as a key or a media type, but for a metric.
    if (/\s/.test(raw)) pieces.push(...prose(text, end - raw.length, end));
    else if (/^['"`]echodrop_\w+['"`]$/.test(raw)) name({ name: raw.slice(1, -1), start: end - raw.length + 1 });
  };
  new Visitor({
    Literal: ({ raw, end }) => raw && string(raw, end),
    // Its own start and end may include the delimiters.
    TemplateElement: ({ value, start }) => {
      const from = start + Number(text[start] === '`' || text[start] === '}');
      string(value.raw, from + value.raw.length);
    },
    Identifier: name,
    PrivateIdentifier: name,
  }).visit(program);
  return [...pieces, ...names.values()];
}

/** JSON is YAML too. */
function ofYaml(text: string): Piece[] {
  const pieces: Piece[] = [];
  let start = 0;
  for (const token of new Lexer().lex(text)) {
    // The lexer also yields marks that are not in the text.
    if ([CST.DOCUMENT, CST.FLOW_END, CST.SCALAR].includes(token)) continue;
    const end = start + token.length;
    if (/\S\s+\S/.test(token)) pieces.push(...prose(text, start, end));
    // Such as an alert.
    else if (/^[A-Z][A-Za-z]+$/.test(token)) pieces.push({ type: 'Identifier', start, end });
    start = end;
  }
  return pieces;
}

/** What is left of a text without its `code`. */
function prose(text: string, from: number, to: number): Piece[] {
  return [...text.slice(from, to).matchAll(/`[^`]*`|[^`]+/g)]
    .filter(([piece]) => !piece.startsWith('`'))
    .map(({ 0: piece, index }) => ({ type: 'Str', start: from + index, end: from + index + piece.length }));
}

function document(text: string, pieces: readonly Piece[]): TxtDocumentNode {
  const lines = new LineCounter();
  for (const { index } of text.matchAll(/^/gm)) lines.addNewLine(index);
  const position = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col - 1 };
  };
  const node = ({ type, start, end }: { type: string; start: number; end: number }) => ({
    type,
    raw: text.slice(start, end),
    range: [start, end],
    loc: { start: position(start), end: position(end) },
  });
  const children = pieces.map((piece) => ({ ...node(piece), value: text.slice(piece.start, piece.end) }));
  // `Identifier` is a node type of ours, which textlint's types do not know.
  return { ...node({ type: 'Document', start: 0, end: text.length }), children } as unknown as TxtDocumentNode;
}
