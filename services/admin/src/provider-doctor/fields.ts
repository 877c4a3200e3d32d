import { parseExactJson } from '@echodrop/record';

/** The fields of an answer; undefined where it is no JSON object. */
export function fieldsOf(body: string): Record<string, unknown> | undefined {
  try {
    const parsed = parseExactJson(body);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? { ...parsed } : undefined;
  } catch {
    return undefined;
  }
}
