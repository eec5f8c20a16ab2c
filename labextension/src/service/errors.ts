/** Why a call to the service failed, in words for the user. */
export class ServiceError extends Error {
  /**
   * @param message - The service's message, if it answered.
   * @param status - The HTTP status; 0 when the Jupyter server did not answer.
   * @param traceId - The call's id in the service's log, if known.
   * @param fields - The problem of each invalid attribute, by its path, if known.
   */
  constructor(
    message: string,
    readonly status: number,
    readonly traceId?: string,
    readonly fields: Readonly<Record<string, string>> = {}
  ) {
    super(message);
    this.name = 'ServiceError';
  }

  /** Whether there was no answer: from the Jupyter server (0), or the service behind it (502, 503, 504). */
  get isUnreachable(): boolean {
    return this.status === 0 || (this.status >= 502 && this.status <= 504);
  }
}

/** Return the error of a failed answer: the service's error envelope, as far as it is present. */
export function errorFromAnswer(status: number, statusText: string, text: string): ServiceError {
  const answer = parsed(text);
  const error = isRecord(answer) && isRecord(answer.error) ? answer.error : {};
  const words = [error.error_message, isRecord(answer) ? answer.message : undefined].find(
    (candidate): candidate is string => typeof candidate === 'string' && candidate !== ''
  );
  const traceId = typeof error.trace_id === 'string' ? error.trace_id : undefined;
  return new ServiceError(
    words ?? `${status} ${statusText}`.trim(),
    status,
    traceId,
    textsOf(error.fields)
  );
}

/** Return any thrown value as a `ServiceError`. */
export function asServiceError(reason: unknown): ServiceError {
  if (reason instanceof ServiceError) {
    return reason;
  }
  return new ServiceError(reason instanceof Error ? reason.message : String(reason), 0);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function textsOf(fields: unknown): Record<string, string> {
  const told = Object.entries(isRecord(fields) ? fields : {});
  return Object.fromEntries(
    told.filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
