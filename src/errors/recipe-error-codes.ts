import { type ErrorCodeEntry, entry } from './error-code.ts';

/** The part of the table that is about recipes, plans, and folders of text. */
export const RECIPE_ERROR_CODES = {
  recipe_invalid: entry(
    2,
    422,
    false,
    'A recipe has defects; the details list each with file, line and field.',
    'Correct the places that are named; `dialectic recipe validate` checks them all.',
  ),
  recipe_conflict: entry(
    5,
    409,
    false,
    'A change to a recipe contradicts what it holds already, or names what it does not hold.',
    'Read the recipe with `dialectic recipe show` and name an existing, or a new, key.',
  ),
  plan_inputs_missing: entry(
    5,
    409,
    false,
    'A step cannot be planned: a required input is missing, or one job would get it twice.',
    'Read which input is named; finish or retry what produces it, or change the recipe.',
  ),
  plan_too_large: entry(
    2,
    422,
    false,
    'The process would make more model calls than is allowed.',
    'Take fewer participants, or raise the limit.',
  ),
  path_invalid: entry(
    2,
    400,
    false,
    'A path does not belong to the tree of a project.',
    'Use the names that export writes.',
  ),
  recipe_unknown: entry(
    5,
    404,
    false,
    'There is no shipped recipe of that name, and no folder that holds one.',
    '`dialectic recipe list` names the shipped ones; a folder needs process.yaml or stage.yaml.',
  ),
  folder_unusable: entry(
    5,
    404,
    false,
    'A folder or file does not exist, or may not be read or written.',
    'Correct the path, or its rights; the message names it.',
  ),
  folder_occupied: entry(
    5,
    409,
    false,
    'The folder or file to write is not free: it is no earlier export of the same project, or a link.',
    'Name one that is empty or does not exist yet; nothing was overwritten.',
  ),
  file_not_text: entry(
    2,
    422,
    false,
    'A file is not text in UTF-8, or is a link or a device.',
    'Take it out of the folder, or save it as UTF-8; the message names it.',
  ),
  file_too_large: entry(
    2,
    413,
    false,
    'A file, or all files of a folder together, is larger than is read.',
    'Take out what does not belong there; the message names the limit.',
  ),
} as const satisfies Record<string, ErrorCodeEntry>;
