/**
 * Has the next item made while the present one is worked on: a batch is parsed while the database, in a process of its
 * own, writes the one before. One item ahead, so memory stays bounded.
 */
export async function* readAhead<T>(items: AsyncGenerator<T, void>): AsyncGenerator<T, void> {
  try {
    let pending = items.next();
    for (;;) {
      const item = await pending;
      if (item.done) return;
      pending = items.next();
      pending.catch(() => {}); // thrown at the next turn, if it comes to that: not as an unhandled rejection before it
      yield item.value;
    }
  } finally {
    await items.return();
  }
}
