/**
 * How many participants a run may have, a recorded one included. Every participant answers every other
 * one: a run of hundreds would fill the memory with its jobs before the first answer is there.
 */
export const MOST_PARTICIPANTS = 50;
