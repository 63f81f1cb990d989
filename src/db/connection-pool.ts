import pg from 'pg';
import type { HeldConnection } from './driver.ts';
import { PatientLimit } from './patient-limit.ts';

/** Connections of one purpose; most work goes over the `fewest` of them. */
export class ConnectionPool {
  readonly #pool: pg.Pool;
  readonly #limit: PatientLimit;

  constructor(config: pg.PoolConfig, most: number, fewest: number) {
    this.#pool = new pg.Pool({ ...config, max: most });
    this.#limit = new PatientLimit(most, fewest);
    this.#pool.on('error', () => {}); // an idle connection that dies is replaced on next use
    // One that dies while it is held fails its statement; unheard, it would end the process.
    this.#pool.on('connect', (client) => void client.on('error', () => {}));
  }

  async acquire(isAside: boolean): Promise<HeldConnection> {
    const leave = await this.#limit.enter(isAside);
    try {
      const client = await this.#pool.connect();
      return {
        client,
        release: (broken) => {
          client.release(broken === true);
          leave();
        },
      };
    } catch (error) {
      leave();
      throw error;
    }
  }

  end(): Promise<void> {
    return this.#pool.end();
  }
}
