import type { ContractNode } from '../recipe/types.ts';
import type { Passage } from './types.ts';

/** A record that tells what would be otherwise (`if`, `if_wrong`, `stop_if`) states no fact. */
const CONDITIONAL = /(?:^|_)if(?:_|$)/;

/**
 * The texts of a document with the section of each. Findings are left out: they speak of the plans
 * that were criticised, not of this one.
 */
export function listPassages(contract: ContractNode, content: unknown): Passage[] {
  const found: Passage[] = [];
  const visit = (
    node: ContractNode | undefined,
    value: unknown,
    section: string,
    isConditional: boolean,
  ): void => {
    if (node?.['x-records'] === 'findings') return;
    if (typeof value === 'string') found.push({ section, text: value, isConditional });
    else if (Array.isArray(value)) {
      for (const one of value) visit(node?.items, one, section, isConditional);
    } else if (typeof value === 'object' && value !== null) {
      const fields = Object.entries(value);
      const isIf = section !== '' && fields.some(([key]) => CONDITIONAL.test(key));
      for (const [key, inner] of fields) {
        visit(node?.properties?.[key], inner, section || key, isConditional || isIf);
      }
    }
  };
  visit(contract, content, '', false);
  return found;
}
