import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a release is made of. */
interface ReleaseFiles {
  /** The `version` of each package.json that is published. */
  readonly versions: Readonly<Record<string, string>>;
  readonly changelog: string;
}

/**
 * The section of the changelog for a tag such as `v0.1.0`.
 * @throws Error if the tag, a version and the changelog do not name the same release
 */
export function releaseNotes(tag: string, { versions, changelog }: ReleaseFiles): string {
  for (const [file, version] of Object.entries(versions)) {
    if (tag !== `v${version}`)
      throw new Error(`the tag is ${tag}, but ${file} has version ${version}: change one of them`);
  }
  const version = tag.slice(1);
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((each) => each.startsWith(`[${version}]`));
  const [heading = '', ...lines] = section?.split('\n') ?? [];
  if (!/ - \d{4}-\d\d-\d\d$/.test(heading))
    throw new Error(
      `CHANGELOG.md lacks the section "## [${version}] - YYYY-MM-DD": add it, with what is in Unreleased`,
    );
  if (/^\[Unreleased\]\s*\S/.test(sections[0] ?? ''))
    throw new Error(`the section Unreleased of CHANGELOG.md is not empty: move its lines to the section ${version}`);
  const notes = lines.join('\n').trim();
  if (notes === '') throw new Error(`the section ${version} of CHANGELOG.md is empty: describe the release`);
  return notes;
}

if (import.meta.main) {
  const text = (path: string) => readFileSync(join(import.meta.dirname, '..', path), 'utf8');
  const manifests = ['package.json', 'packages/client/package.json'];
  const versions = Object.fromEntries(manifests.map((path) => [path, JSON.parse(text(path)).version]));
  process.stdout.write(`${releaseNotes(process.argv[2] ?? '', { versions, changelog: text('CHANGELOG.md') })}\n`);
}
