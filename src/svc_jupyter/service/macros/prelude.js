// What a command's macros find besides the language: moment with moment-timezone (both loaded before this file),
// strftime on moments, and the nominal time. The value of this file is the function that worker.py calls.
(function () {
  "use strict";

  // Kept from before any macro ran: a macro may replace what it finds under these names.
  const stringify = JSON.stringify;
  const evaluateGlobally = eval;
  const define = Object.defineProperty;
  const { moment, Promise, Error } = globalThis;
  const INVALID_DATE = moment.localeData().invalidDate();

  // The engine has no console to warn on; subtract('days', 7) works all the same.
  moment.suppressDeprecationWarnings = true;

  const dayOfYear = (date) => date.dayOfYear() - 1;

  // Week of the year with weeks that begin on `firstDay` (0 = Sunday); days before the first such day are in week 0.
  function week(date, firstDay) {
    return Math.floor((dayOfYear(date) + 7 - ((date.day() + 7 - firstDay) % 7)) / 7);
  }

  // Each entry: how the field is read, its width and what fills it up.
  const NUMBERS = {
    C: [(d) => Math.floor(d.year() / 100), 2, "0"],
    d: [(d) => d.date(), 2, "0"],
    e: [(d) => d.date(), 2, " "],
    f: [(d) => d.millisecond() * 1000, 6, "0"],
    g: [(d) => d.isoWeekYear() % 100, 2, "0"],
    G: [(d) => d.isoWeekYear(), 4, "0"],
    H: [(d) => d.hour(), 2, "0"],
    I: [(d) => d.hour() % 12 || 12, 2, "0"],
    j: [(d) => d.dayOfYear(), 3, "0"],
    k: [(d) => d.hour(), 2, " "],
    l: [(d) => d.hour() % 12 || 12, 2, " "],
    L: [(d) => d.millisecond(), 3, "0"],
    m: [(d) => d.month() + 1, 2, "0"],
    M: [(d) => d.minute(), 2, "0"],
    s: [(d) => d.unix(), 1, "0"],
    S: [(d) => d.second(), 2, "0"],
    u: [(d) => d.isoWeekday(), 1, "0"],
    U: [(d) => week(d, 0), 2, "0"],
    V: [(d) => d.isoWeek(), 2, "0"],
    w: [(d) => d.day(), 1, "0"],
    W: [(d) => week(d, 1), 2, "0"],
    y: [(d) => d.year() % 100, 2, "0"],
    Y: [(d) => d.year(), 4, "0"],
  };
  const TEXTS = {
    a: (d) => d.format("ddd"),
    A: (d) => d.format("dddd"),
    b: (d) => d.format("MMM"),
    B: (d) => d.format("MMMM"),
    h: (d) => d.format("MMM"),
    n: () => "\n",
    p: (d) => (d.hour() < 12 ? "AM" : "PM"),
    P: (d) => (d.hour() < 12 ? "am" : "pm"),
    t: () => "\t",
    z: (d) => d.format("ZZ"),
    Z: (d) => d.format("z"),
    "%": () => "%",
  };
  const COMPOSITES = {
    c: "%a %b %e %H:%M:%S %Y",
    D: "%m/%d/%y",
    F: "%Y-%m-%d",
    r: "%I:%M:%S %p",
    R: "%H:%M",
    T: "%H:%M:%S",
    x: "%m/%d/%y",
    X: "%H:%M:%S",
  };
  const FILL = { _: " ", "0": "0" };

  function number(date, [read, width, fill], flag) {
    const value = read(date);
    const digits = String(Math.abs(value));
    const filled = flag === "-" ? digits : digits.padStart(width, FILL[flag] ?? fill);
    return value < 0 ? "-" + filled : filled;
  }

  function strftime(date, mask) {
    return mask.replace(/%([-_0^]?)([A-Za-z%])?/g, (directive, flag, letter) => {
      if (Object.hasOwn(COMPOSITES, letter)) return strftime(date, COMPOSITES[letter]);
      if (Object.hasOwn(NUMBERS, letter)) return number(date, NUMBERS[letter], flag);
      if (!Object.hasOwn(TEXTS, letter)) throw new RangeError("strftime: unknown directive " + directive);
      const text = TEXTS[letter](date);
      return flag === "^" ? text.toUpperCase() : text;
    });
  }

  // The field names are the C library's, in English; %f is microseconds, %L milliseconds, and -, _, 0 and ^ are flags.
  moment.fn.strftime = function (mask) {
    return this.isValid() ? strftime(this, String(mask)) : INVALID_DATE;
  };

  function describe(thrown) {
    try {
      if (thrown instanceof Error) return thrown.name + ": " + thrown.message;
      // The engine throws null, or a value that is none, when not even an error fits into its memory any more.
      const text = String(thrown);
      if (text === "null" || text === "[uninitialized]") return "null was thrown, or the memory is used up";
      return text + " was thrown";
    } catch {
      return "something was thrown that has no text";
    }
  }

  function refusal(value, text) {
    if (moment.isMoment(value) ? !value.isValid() : value === INVALID_DATE) return "the date is invalid";
    if (typeof value === "number" && text === "null") return "the value is " + value;
    if (value instanceof Promise) return "the value is a promise";
    if (text === "null") return "the value is null";
    return text === undefined ? "the value is " + (value === undefined ? "undefined" : "a " + typeof value) : "";
  }

  function value(name, expression, longest) {
    const assigned = evaluateGlobally("(" + expression + "\n)");
    const text = stringify(assigned);
    const why = refusal(assigned, text);
    if (why) return [false, why];
    if (text.length > longest) return [false, "the value has more than " + longest + " characters"];
    define(globalThis, name, { value: assigned, writable: true, enumerable: true, configurable: true });
    return [true, text];
  }

  // Assigns the expression's value to the name. Returns, as JSON text, true and the value's JSON text, or false and why
  // there is none. JSON text, because what `+` makes of long strings cannot leave the engine.
  function assign(name, expression, longest) {
    try {
      return stringify(value(name, expression, longest));
    } catch (thrown) {
      return stringify([false, describe(thrown)]);
    }
  }

  // Sets the nominal time and the zone in which moment reads and writes wall clocks. Returns the function that
  // evaluates one macro, or "" when the zone is unknown.
  return function open(milliseconds, zone) {
    if (moment.tz.zone(zone) === null) return "";
    moment.tz.setDefault(zone);
    const nominal = moment.tz(milliseconds, zone);
    const iso = nominal.toISOString();
    // Moments are mutable: each use gets its own, so that a macro that subtracts does not move the time of the next.
    define(globalThis, "Service_nominal_time", { get: () => nominal.clone(), enumerable: true });
    define(globalThis, "Service_nominal_time_iso", { value: iso, enumerable: true });
    return assign;
  };
})();
