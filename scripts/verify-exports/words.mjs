// The words of the tables, in both languages of the docs.
export const WORDS = {
  en: {
    columns: ["template", "rows", "refused", "reasoning learnt", "replies", "arguments", "tools", "other text learnt"],
    causes: "Causes",
  },
  zh: {
    columns: ["模板", "行数", "被拒", "学到的推理", "回复", "参数", "工具", "误学的其他文本"],
    causes: "原因",
  },
};
