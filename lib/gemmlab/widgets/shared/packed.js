// Much plain data as a short text of a widget's config (packed.py).

// A promise of the data: the browser inflates it, beside what the page does.
export async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}
