"use strict";
// A listing that is searched, filtered and sorted here, and articles of which the address names the one to show:
// "#zhang17.lemma2" is an article, "#?verdict=REFUTED&q=gaussian" the listing so filtered.
(() => {
  const main = document.querySelector("main");
  const listing = document.querySelector(".listing");
  const formulas = (root) => root.querySelectorAll(".formula");

  // A formula that is still wider than the page, though it may break between its terms, is made smaller when it is seen.
  const fit = (formula) => {
    formula.style.fontSize = "";
    const size = parseFloat(getComputedStyle(formula).fontSize);
    for (let share = 1; formula.scrollWidth > formula.clientWidth && share > 0.5;) {
      share = Math.max(0.5, share * Math.min(0.97, formula.clientWidth / formula.scrollWidth));
      formula.style.fontSize = `${share * size}px`;
    }
  };
  const seen = new Set();
  const watching = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) fit(target);
      seen[isIntersecting ? "add" : "delete"](target);
    }
  }, { rootMargin: "400px" });
  for (const formula of formulas(document)) watching.observe(formula);
  addEventListener("resize", () => seen.forEach(fit));

  for (const button of document.querySelectorAll(".copy")) {
    button.addEventListener("click", async () => {
      const code = button.previousElementSibling;
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "copied";
        setTimeout(() => { button.textContent = "copy"; }, 1500);
      } catch {
        getSelection().selectAllChildren(code); // no clipboard here: Ctrl-C is one key away
      }
    });
  }

  if (!listing) return;

  main.classList.add("listed");
  const form = listing.querySelector("form");
  const search = form.querySelector("input");
  const order = form.querySelector("select.order");
  const heads = [...listing.querySelectorAll("th button")];
  const body = listing.querySelector("tbody");
  const rows = [...body.rows];
  const noun = listing.dataset.noun;
  const title = document.title;
  const filters = [...form.querySelectorAll("[data-filter]")];
  const articles = new Map([...document.querySelectorAll("article[id]")].map((one) => [one.id, one]));
  let descending = false;
  let scrolled = 0;

  // What is searched: all that is said of an item, and its formulas as they are written on one line.
  const texts = new Map(rows.map((row) => {
    const parts = [row, articles.get(row.dataset.id)].filter(Boolean);
    const titles = parts.flatMap((part) => [...formulas(part)].map((formula) => formula.title));
    return [row, [...parts.map((part) => part.textContent), ...titles].join(" ").toLowerCase()];
  }));

  const chosen = (filter) => filter.tagName === "SELECT"
    ? [filter.value].filter(Boolean)
    : [...filter.querySelectorAll("[aria-pressed=true]")].map((button) => button.value);
  const choose = (filter, values) => {
    if (filter.tagName === "SELECT") {
      filter.value = values[0] ?? "";
    } else {
      for (const button of filter.querySelectorAll("button")) {
        button.setAttribute("aria-pressed", values.includes(button.value));
      }
    }
  };
  const meets = (row, filter) => {
    const values = chosen(filter);
    return values.length === 0 || values.includes(row.dataset[filter.dataset.filter]);
  };

  const sort = () => {
    const key = order.value;
    const value = (row) => row.dataset[key] ?? "";
    const before = (a, b) => {
      const [x, y] = [value(a), value(b)];
      const numbers = x !== "" && y !== "" && !Number.isNaN(+x) && !Number.isNaN(+y);
      return numbers ? x - y : x.localeCompare(y, undefined, { numeric: true });
    };
    const sorted = [...rows].sort((a, b) => (descending ? before(b, a) : before(a, b)));
    body.append(...sorted);
    for (const head of heads) {
      const now = head.dataset.sort === key;
      head.parentElement.setAttribute("aria-sort", now ? (descending ? "descending" : "ascending") : "none");
    }
  };

  const narrow = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = rows.filter((row) => words.every((word) => texts.get(row).includes(word)));
    const shown = new Set(found.filter((row) => filters.every((filter) => meets(row, filter))));
    for (const row of rows) row.hidden = !shown.has(row);
    for (const filter of filters) { // each choice with how many it would leave, the other filters as they are
      const rest = found.filter((row) => filters.every((other) => other === filter || meets(row, other)));
      for (const one of filter.querySelectorAll("button, option[value]:not([value=''])")) {
        const count = rest.filter((row) => row.dataset[filter.dataset.filter] === one.value).length;
        one.dataset.label ??= one.textContent.trim();
        if (one.tagName === "OPTION") one.textContent = `${one.dataset.label} (${count})`;
        else one.querySelector("b").textContent = count;
        one.classList.toggle("empty", count === 0);
      }
    }
    const all = shown.size === rows.length;
    listing.querySelector(".count").textContent = all ? `${rows.length} ${noun}` : `${shown.size} of ${rows.length} ${noun}`;
  };

  const written = () => {
    const query = new URLSearchParams();
    if (search.value) query.set("q", search.value);
    for (const filter of filters) for (const value of chosen(filter)) query.append(filter.dataset.filter, value);
    if (order.selectedIndex > 0) query.set("order", order.value);
    if (descending) query.set("down", "1");
    const text = query.toString();
    return text ? `#?${text}` : "#";
  };
  const read = (text) => {
    const query = new URLSearchParams(text);
    search.value = query.get("q") ?? "";
    for (const filter of filters) choose(filter, query.getAll(filter.dataset.filter));
    const wanted = query.get("order");
    order.selectedIndex = Math.max(0, [...order.options].findIndex((option) => option.value === wanted));
    descending = query.has("down");
    sort();
    narrow();
  };
  const changed = () => {
    history.replaceState(null, "", written());
    narrow();
  };

  const open = (id) => {
    const shown = articles.get(id);
    for (const article of articles.values()) article.classList.toggle("shown", article === shown);
    const was = main.classList.toggle("one", Boolean(shown));
    document.title = shown ? `${id} · ${title}` : title;
    if (!was) return;
    const around = [...body.rows].filter((row) => !row.hidden).map((row) => row.dataset.id);
    const at = around.indexOf(id);
    for (const [name, other] of [["previous", at < 0 ? undefined : around[at - 1]], ["next", at < 0 ? around[0] : around[at + 1]]]) {
      const link = shown.querySelector(`nav .${name}`);
      if (other === undefined) link.removeAttribute("href");
      else link.href = `#${other}`;
    }
    shown.querySelector("nav .back").href = written();
    scrollTo(0, 0);
  };

  const arrived = () => {
    const text = decodeURIComponent(location.hash.slice(1));
    if (articles.has(text)) {
      if (!main.classList.contains("one")) scrolled = scrollY;
      open(text);
      return;
    }
    const back = main.classList.contains("one");
    open(null);
    if (back && (location.hash || "#") === written()) narrow();
    else read(location.hash.startsWith("#?") ? location.hash.slice(2) : "");
    if (back) scrollTo(0, scrolled);
  };

  search.addEventListener("input", changed);
  order.addEventListener("change", () => { descending = false; sort(); changed(); });
  for (const filter of filters) {
    if (filter.tagName === "SELECT") filter.addEventListener("change", changed);
    else filter.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      button.setAttribute("aria-pressed", button.getAttribute("aria-pressed") !== "true");
      changed();
    });
  }
  for (const head of heads) {
    head.addEventListener("click", () => {
      descending = order.value === head.dataset.sort && !descending;
      order.value = head.dataset.sort;
      sort();
      changed();
    });
  }
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", (event) => { event.preventDefault(); read(""); history.replaceState(null, "", "#"); });
  body.addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    if (row && articles.has(row.dataset.id) && !event.target.closest("a, summary") && !getSelection().toString()) {
      location.hash = row.dataset.id;
    }
  });
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && main.classList.contains("one")) location.hash = written();
    if (event.key === "/" && !main.classList.contains("one") && document.activeElement !== search) {
      event.preventDefault();
      search.focus();
    }
  });
  addEventListener("hashchange", arrived);
  sort();
  arrived();
  if (main.classList.contains("one")) narrow();
})();
