// A page as jsdom makes it, with what browsers have and jsdom lacks; Node.js has most of it.
const { TestEnvironment } = require('jest-environment-jsdom');

class NoLayout {
  observe() {}
  unobserve() {}
  disconnect() {}
}

module.exports = class PageEnvironment extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    const { AbortController, AbortSignal, Headers, ReadableStream, Request, Response } = globalThis;
    Object.assign(this.global, {
      AbortController,
      AbortSignal,
      Headers,
      ReadableStream,
      Request,
      Response,
      fetch
    });
    Object.assign(this.global, { TextDecoder, TextEncoder, structuredClone });
    this.global.ResizeObserver = NoLayout;
    this.global.DragEvent = class DragEvent extends this.global.MouseEvent {};
    const unmatched = {
      matches: false,
      addListener() {},
      addEventListener() {},
      removeEventListener() {}
    };
    this.global.requestIdleCallback = step => this.global.setTimeout(step);
    this.global.navigator.clipboard ??= {};
    this.global.matchMedia = () => unmatched;
    this.global.IS_REACT_ACT_ENVIRONMENT = true;
  }
};
