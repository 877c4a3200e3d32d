import { kindOf } from './answer-kind.ts';
import type { Exchange, Questions } from './exchange.ts';
import { type Finding, ok, warn, wrong } from './finding.ts';

/**
 * Whether the provider knows the Host that it is asked for, going by `asked`, its answers to questions without credentials or with
 * made-up ones. One that does refuses; where it does not, it is asked once more by its own.
 */
export async function hostFinding(asked: readonly Exchange[], questions: Questions): Promise<Finding> {
  const { advertised, upstream } = questions.provider;
  const [host, own] = [new URL(advertised).host, new URL(upstream).host];
  if (upstream === advertised) return ok('The Host is right: the advertised address is asked itself.');
  const refusal = asked.find(isRefusal);
  if (refusal && (host === own || isOfTheCheck(refusal))) return ok(`It answers by the advertised Host, ${host}.`);
  if (refusal) {
    const byItsOwn = await questions.askByItsOwnHost();
    if (!isRefusal(byItsOwn) || byItsOwn.answer?.status === refusal.answer?.status)
      return ok(`It answers by the advertised Host, ${host}.`);
    return warn(
      `It may not know the advertised Host: asked for ${host} it ${briefly(refusal)}, asked for its own, ${own}, it ${briefly(byItsOwn)}.`,
    );
  }
  if (host !== own && isRefusal(await questions.askByItsOwnHost()))
    return wrong(
      `The advertised Host is not known there: asked for ${host} it ${briefly(asked[0])}, asked for its own, ${own}, it refuses as it should.`,
    );
  return warn(`Whether the advertised Host, ${host}, is right cannot be told: it refuses nothing by any Host.`);
}

function isRefusal({ answer }: Exchange): boolean {
  return answer !== undefined && kindOf(answer) === 'refusal';
}

// A server that does not know a Host may well say 403, with a page; a credential check says 401.
function isOfTheCheck({ answer }: Exchange): boolean {
  return answer?.status === 401;
}

function briefly(exchange: Exchange | undefined): string {
  return exchange?.answer ? `answers ${exchange.answer.status}` : 'gives no answer';
}
