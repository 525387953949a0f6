// The connections to one origin: as many as there are requests, one request on each at a time. A free one is found at once,
// however many there are, where undici's own pool looks through all of them; and only so many are made at the same time.
import type { Client, Dispatcher } from "undici";

/**
 * A server's backlog is some hundreds or thousands, and a connection's time limit runs from when it is begun: thousands at
 * once could exceed both. The others wait before theirs is begun.
 */
const MAX_CONNECTING = 128;

type Undici = Pick<typeof import("undici"), "Client" | "Dispatcher">;
type Asked = { options: Dispatcher.DispatchOptions; handler: Dispatcher.DispatchHandler };
type Connection = { client: Client; isConnected: boolean; isFree: boolean };

export function createConnections(undici: Undici, origin: string, options: Client.Options): Dispatcher {
  const connections = new Connections(() => new undici.Client(origin, options));
  return Object.assign(new undici.Dispatcher(), {
    dispatch: (asked: Asked["options"], handler: Asked["handler"]) => connections.dispatch({ options: asked, handler }),
    destroy: () => connections.destroy(),
    close: () => connections.destroy(),
  });
}

class Connections {
  readonly #createClient: () => Client;
  readonly #all = new Set<Connection>();
  readonly #connecting = new Set<Connection>();
  /** the one used last is taken first, so that those which are too many time out; lost ones are taken out later */
  #free: Connection[] = [];
  #lost = 0;
  /** in order of arrival */
  readonly #waiting = new Set<Asked>();
  #isDestroyed = false;

  constructor(createClient: () => Client) {
    this.#createClient = createClient;
  }

  dispatch(asked: Asked): boolean {
    if (this.#isDestroyed) throw closedError();
    const connection = this.#waiting.size === 0 ? this.#take() : undefined;
    if (connection) this.#send(connection, asked);
    else this.#waiting.add(asked);
    return true;
  }

  async destroy(): Promise<void> {
    this.#isDestroyed = true;
    const refused = [...this.#waiting];
    this.#waiting.clear();
    const error = closedError(); // one for all: thousands would be thousands of stacks
    for (const { handler } of refused) refuse(handler, error);
    await Promise.all([...this.#all].map(({ client }) => client.destroy(error)));
  }

  /** What waits goes on as soon as there is a connection for it, or room to make one. */
  #serve(): void {
    for (const asked of this.#waiting) {
      const connection = this.#take();
      if (!connection) return;
      this.#waiting.delete(asked);
      this.#send(connection, asked);
    }
  }

  #take(): Connection | undefined {
    for (let free = this.#free.pop(); free; free = this.#free.pop()) {
      if (free.isFree) return free;
      this.#lost--;
    }
    return this.#connecting.size < MAX_CONNECTING && !this.#isDestroyed ? this.#open() : undefined;
  }

  #send(connection: Connection, { options, handler }: Asked): void {
    const { client } = connection;
    connection.isFree = false;
    try {
      client.dispatch(options, handler);
    } catch (error) {
      refuse(handler, error);
    }
    // refused before it was sent, such as for a header that cannot be written: nothing else says that it is free
    if (client.stats.size > 0) return;
    if (connection.isConnected) this.#release(connection);
    else this.#forget(connection);
  }

  #open(): Connection {
    const client = this.#createClient();
    const connection = { client, isConnected: false, isFree: false };
    this.#all.add(connection);
    this.#connecting.add(connection);
    client.on("connect", () => {
      connection.isConnected = true;
      if (this.#connecting.delete(connection)) this.#serve();
    });
    client.on("drain", () => this.#release(connection));
    client.on("disconnect", () => {
      connection.isConnected = false;
      if (connection.isFree) this.#lose(connection);
    });
    client.on("connectionError", () => this.#forget(connection));
    return connection;
  }

  /** Its request is over. Without a connection there is nothing to keep: another is made when it is needed. */
  #release(connection: Connection): void {
    if (connection.isFree) return;
    if (!connection.isConnected || !this.#all.has(connection)) {
      this.#forget(connection);
      void connection.client.destroy();
      return;
    }
    connection.isFree = true;
    this.#free.push(connection);
    this.#serve();
  }

  #lose(connection: Connection): void {
    connection.isFree = false;
    this.#all.delete(connection);
    if (++this.#lost * 2 < this.#free.length) return;
    this.#free = this.#free.filter(({ isFree }) => isFree);
    this.#lost = 0;
  }

  #forget(connection: Connection): void {
    this.#all.delete(connection);
    if (this.#connecting.delete(connection)) this.#serve();
  }
}

function closedError(): Error {
  return new Error("the connections are closed");
}

function refuse(handler: Dispatcher.DispatchHandler, error: unknown): void {
  handler.onResponseError?.(undefined as never, error as Error);
}
