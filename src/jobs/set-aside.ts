/** Thrown by a handler that gives its job up unharmed: it goes back to the queue at once. */
export class SetAside extends Error {}
