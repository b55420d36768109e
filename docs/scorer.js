// Ranks results of the site's search: pages that answer a question before pages that list or prove things, and titles with the words of the query first.
// The numbers without a folder are Sphinx's own (https://www.sphinx-doc.org/en/master/usage/configuration.html#confval-html_search_scorer).
var Scorer = {
  score: ([page, title, , , score]) => {
    const folders = [["generated/", 0.3], ["evidence/", 0.4], ["decisions/", 0.8], ["reference/", 1.3], ["concepts/", 1.5]];
    const [, weight] = folders.find(([folder]) => page.includes(folder)) ?? ["", 3];
    const words = (new URLSearchParams(location.search).get("q") ?? "").toLowerCase().split(/\s+/);
    const inTitle = words.filter((word) => title.toLowerCase().includes(word)).length / words.length;
    return score * weight * (1 + 4 * inTitle * inTitle);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: {0: 15, 1: 5, 2: -5},
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
