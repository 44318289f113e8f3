import Testing

@testable import KVStoreServer

@Suite("One script of modules")
struct PageBundleTests {
    @Test("each module is there once, before those that import it, and nothing of the syntax of modules is left")
    func modules() {
        let files = [
            "start.js": """
            // What begins.
            import { a, helper } from './lists.js';
            if (a()) await import('./page.js');
            else helper();
            """,
            "page.js": """
            import { a } from './lists.js';
            import { Item, one, two } from './item.js';
            import './lists.js';
            await new Item(one, two, a()).show();
            """,
            "lists.js": """
            /** "import" and "export" in a text are no syntax. */
            export const a = () => 'import';
            export async function helper(first = 1) { return first; }
            """,
            "item.js": """
            import { a } from './lists.js';
            export const [one, two] = [1, 2];
            export class Item extends Object {
              show() { return a(); }
            }
            """,
            "unused.js": "export const b = 1;",
        ]
        let text = String(decoding: PageBundle.script("start.js", files.mapValues { Array($0.utf8) }), as: UTF8.self)
        let lines = text.split(separator: "\n").map(String.init)
        let heads = lines.filter { $0.hasSuffix("once(() => {") || $0.hasSuffix("once(async () => {") }
        #expect(
            heads == [
                "const lists$js = once(() => {", "const item$js = once(() => {", "const page$js = once(async () => {",
                "const start$js = once(async () => {",
            ])
        #expect(!lines.contains { $0.hasPrefix("import") || $0.hasPrefix("export") || $0.contains("import(") })
        #expect(lines.contains("return { a, helper };") && lines.contains("return { one, two, Item };"))
        #expect(lines.contains("if (a()) await page$js();") && lines.last == "start$js();")
        #expect(!text.contains("unused"))
    }
}
