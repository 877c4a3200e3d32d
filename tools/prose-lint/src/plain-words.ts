import { basename } from 'node:path';
import type { TextlintRuleReporter } from '@textlint/types';

interface Options {
  /** Regular expressions, and what to write instead. A space matches across lines. */
  readonly words: Record<string, string>;
  /** The same, for whole identifiers of which `words` has nothing to say. */
  readonly names?: Record<string, string>;
  /** Identifiers to skip, in all files or, as `file name`, in one. */
  readonly allow?: readonly string[];
}

/** Reports words that our style replaces: in prose, and in the parts of identifiers and names of source files. */
const rule: TextlintRuleReporter<Options> = ({ RuleError, report, locator, getSource, getFilePath }, options) => {
  if (typeof options !== 'object') throw new Error('plain-words needs its options');
  const { words, names = {}, allow = [] } = options;
  const ofNames = new Map(Object.entries(names));
  const banned = Object.entries(words).map(([pattern, instead]) => ({
    // A word in a path, a file name or a hyphenated name is none of prose.
    pattern: new RegExp(`(?<![\\w/.-])(?:${pattern.replaceAll(' ', '[\\s*/]+')})(?![\\w-]|\\.\\w)`, 'gi'),
    instead,
  }));
  const inProse = (node: Parameters<typeof report>[0]) => {
    for (const { pattern, instead } of banned)
      for (const { 0: found, index } of getSource(node).matchAll(pattern)) {
        const padding = locator.range([index, index + found.length]);
        report(node, new RuleError(`"${found.replace(/[\s*/]+/g, ' ')}": write ${instead}`, { padding }));
      }
  };
  const inName = (node: Parameters<typeof report>[0], name: string) => {
    if (allow.includes(name) || allow.includes(`${basename(getFilePath() ?? '')} ${name}`)) return;
    const parts = name.replace(/(?<=[a-z\d])(?=[A-Z])|[_#.-]/g, ' ').trim();
    const instead = ofNames.get(parts.toLowerCase()) ?? banned.find(({ pattern }) => parts.match(pattern))?.instead;
    if (instead) report(node, new RuleError(`name "${name}": use ${instead}`));
  };
  return {
    Document: (node) => {
      const file = getFilePath() ?? '';
      if (file.endsWith('.ts')) inName(node, basename(file));
    },
    Str: inProse,
    CodeBlock: inProse,
    Identifier: (node) => inName(node, node.value),
  };
};
export default rule;
