// What is wrong with how a page looks, as a list of sentences.
(() => {
  const faults = [];
  const short = (text) => JSON.stringify(text.trim().slice(0, 40));
  const scroller = (element) => element.closest('.wide, pre, figure');
  const isSeen = (element) => element.checkVisibility({ visibilityProperty: true }) && !element.closest('title, style, script, .offscreen');
  const clipped = (rect, frame) => {
    if (!frame) return rect;
    const box = frame.getBoundingClientRect();
    const [left, right] = [Math.max(rect.left, box.left), Math.min(rect.right, box.right)];
    return right - left > 1 ? { left, right, top: rect.top, bottom: rect.bottom } : null;
  };

  // Every line of every text that is seen.
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const element = node.parentElement;
    if (node.textContent.trim() === '' || !isSeen(element)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const rect of range.getClientRects()) {
      if (rect.width > 0 && rect.height > 0) texts.push({ node, element, rect });
    }
  }

  for (const { node, element, rect } of texts) {
    const svg = element.closest('svg');
    const frame = svg && !element.closest('svg.inner') ? svg.getBoundingClientRect() : null;
    if (frame && (rect.left < frame.left - 1 || rect.right > frame.right + 1 || rect.top < frame.top - 1 || rect.bottom > frame.bottom + 1)) {
      faults.push(`cut off by its picture: ${short(node.textContent)}`);
    }
    if (!scroller(element) && (rect.left < -0.5 || rect.right > innerWidth + 0.5)) {
      faults.push(`beyond the edge of the page: ${short(node.textContent)}`);
    }
    const size = parseFloat(getComputedStyle(element).fontSize) * (svg ? Math.hypot(element.getScreenCTM().a, element.getScreenCTM().b) : 1);
    if (size < 9.5) faults.push(`${size.toFixed(1)} px high: ${short(node.textContent)}`);
  }
  if (document.documentElement.scrollWidth > innerWidth) faults.push(`the page is ${document.documentElement.scrollWidth} px wide`);

  // Overlaps, line by line from the top. What is below a column that stays in view is hidden by its ground.
  const seen = texts
    .filter(({ element }) => !element.closest('.limit, .readout'))
    .map((text) => ({ ...text, rect: clipped(text.rect, scroller(text.element)) }))
    .filter(({ rect }) => rect)
    .sort((a, b) => a.rect.top - b.rect.top);
  seen.forEach((a, n) => {
    for (let m = n + 1; m < seen.length && seen[m].rect.top < a.rect.bottom - 3; m += 1) {
      const b = seen[m];
      const across = Math.min(a.rect.right, b.rect.right) - Math.max(a.rect.left, b.rect.left);
      const down = Math.min(a.rect.bottom, b.rect.bottom) - b.rect.top;
      if (a.node !== b.node && across > 1.5 && down > 3) faults.push(`overlap: ${short(a.node.textContent)} and ${short(b.node.textContent)}`);
    }
  });

  // Contrast of text in pictures, which axe-core leaves out: against the cell of a map that it stands in, or else the ground.
  const channels = (color) => color.match(/[\d.]+/g).map(Number);
  const luminance = (color) => {
    const [r, g, b] = channels(color).map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = getComputedStyle(document.body).backgroundColor;
  for (const svg of document.querySelectorAll('svg.chart, svg.graph')) {
    if (!isSeen(svg)) continue;
    const cells = [...svg.querySelectorAll('rect[style]')].map((cell) => [cell.getBoundingClientRect(), getComputedStyle(cell).fill]);
    for (const text of svg.querySelectorAll('text')) {
      const r = text.getBoundingClientRect();
      const [x, y] = [(r.left + r.right) / 2, (r.top + r.bottom) / 2];
      const cell = cells.find(([c]) => c.left <= x && x <= c.right && c.top <= y && y <= c.bottom);
      const [a, b] = [luminance(getComputedStyle(text).fill), luminance(cell ? cell[1] : ground)];
      const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (contrast < 4.5) faults.push(`contrast ${contrast.toFixed(1)}: ${short(text.textContent)}`);
    }
  }
  return [...new Set(faults)].slice(0, 12);
})()
