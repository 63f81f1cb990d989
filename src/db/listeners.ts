import { logToStderr } from '../platform/log.ts';

type OnNotify = (payload: string) => void;

/** Listeners by channel. One that throws does not stop another. */
export class Listeners {
  readonly #byChannel = new Map<string, Set<OnNotify>>();

  /** Registers a listener and returns how to take it off again. */
  add(channel: string, onNotify: OnNotify): () => void {
    const listeners = this.#byChannel.get(channel) ?? new Set();
    this.#byChannel.set(channel, listeners);
    listeners.add(onNotify);
    return () => {
      listeners.delete(onNotify);
      if (listeners.size > 0 || this.#byChannel.get(channel) !== listeners) return;
      this.#byChannel.delete(channel);
    };
  }

  channels(): string[] {
    return [...this.#byChannel.keys()];
  }

  tell(channel: string, payload: string): void {
    for (const onNotify of this.#byChannel.get(channel) ?? []) {
      try {
        onNotify(payload);
      } catch (error) {
        // It is called by the protocol's parser, which an error would break for every query on the connection.
        logToStderr(`a listener of ${channel} failed: ${String(error)}`);
      }
    }
  }

  /** Calls every listener, since notifications may have been lost. */
  tellAll(): void {
    for (const channel of this.channels()) this.tell(channel, '');
  }
}
