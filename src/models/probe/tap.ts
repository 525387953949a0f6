// Lets the doctor see an answer as the server wrote it, next to what the client made of it.
import type { Dispatcher } from "undici";
import { isObject, parseJson } from "../../core/index.ts";
import type { Dispatchers } from "../http.ts";

export type Tap = {
  dispatchers: Dispatchers;
  /** the last answer's body, if it was a JSON object */
  last(): Record<string, unknown>;
};

/** For one call at a time. */
export function tap(inner: Dispatchers): Tap {
  let chunks: Buffer[] = [];
  const listen: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
    chunks = [];
    return dispatch(options, {
      onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
      onResponseStart: (...answer) => handler.onResponseStart?.(...answer),
      onResponseData: (controller, chunk) => {
        chunks.push(chunk);
        handler.onResponseData?.(controller, chunk);
      },
      onResponseEnd: (controller, trailers) => handler.onResponseEnd?.(controller, trailers),
      onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
    });
  };
  return {
    dispatchers: { for: (url) => inner.for(url).compose(listen), close: () => inner.close() },
    last: () => {
      const body = parseJson(Buffer.concat(chunks).toString());
      return isObject(body) ? body : {};
    },
  };
}
