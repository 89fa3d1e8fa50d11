/** `Promise.withResolvers`, which DevTools uses and Node 20 does not have. */
Promise.withResolvers ??= function withResolvers<T>(this: PromiseConstructor) {
  const parts = {} as PromiseWithResolvers<T>;
  const promise = new Promise<T>((resolve, reject) => Object.assign(parts, { resolve, reject }));
  return Object.assign(parts, { promise });
};
