/** What sends a request; adapters receive it, so that nothing else reaches for the global one. */
export type SendHttp = typeof globalThis.fetch;

/** The plain client for addresses that the user configured, loopback included; unguarded. */
export const sendHttp: SendHttp = (input, init) => fetch(input, init);
