import Foundation
import StoreTestSupport
package import Testing

/// The layout of pages, stored as text under fixtures/layouts, one file for each kind of browser.
///
/// Screenshots of text differ between versions of browsers and their libraries. Positions and sizes do not: browsers of
/// tests have only the fonts of DejaVu, and those have not changed since 2016. `UPDATE_LAYOUTS=1` rewrites the files;
/// review the diff.
extension Browser {
    /// In pixels. Smaller differences are invisible, and come from the rounding of fractions.
    private static let tolerance = 2

    /// Compares the visible elements that a selector matches with a stored layout: each with its size, and its position
    /// in the innermost of them that contains it. A screenshot of a page that differs is written to `.build/layouts`.
    package func expectLayout(
        of selector: String, equals name: String, at location: SourceLocation = #_sourceLocation
    ) async throws {
        let name = "\(name)-\(kind.rawValue.lowercased())"
        let file = Repository.fixtures.appending(path: "layouts/\(name).txt")
        let found = try await text(Self.layout(of: selector)) + "\n"
        let stored = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        let differences = Self.differences(of: found, from: stored)
        if differences.isEmpty { return }
        if ProcessInfo.processInfo.environment["UPDATE_LAYOUTS"] == "1" {
            return try Data(found.utf8).write(to: file)
        }
        let screenshots = Repository.root.appending(path: ".build/layouts")
        try FileManager.default.createDirectory(at: screenshots, withIntermediateDirectories: true)
        try await screenshot().write(to: screenshots.appending(path: "\(name).png"))
        Issue.record(
            "\(file.path) differs from what .build/layouts/\(name).png shows:\n\(differences.joined(separator: "\n"))",
            sourceLocation: location)
    }

    /// A line for each element: its name, indented by two spaces for each that contains it; left, top, width and
    /// height.
    private static func layout(of selector: String) -> String {
        """
        const elements = [...document.querySelectorAll('\(selector)')].filter(e => e.checkVisibility());
        const box = element => element ? element.getBoundingClientRect() : { x: -scrollX, y: -scrollY };
        return elements.map(element => {
            const outer = elements.filter(other => other !== element && other.contains(element));
            const [inside, around] = [box(element), box(outer.at(-1))];
            const name = element.localName + (element.id ? `#${element.id}` : [...element.classList].map(c => `.${c}`).join(''));
            const numbers = [inside.x - around.x, inside.y - around.y, inside.width, inside.height].map(Math.round);
            return '  '.repeat(outer.length) + [name, ...numbers].join(' ');
        }).join('\\n');
        """
    }

    /// The lines that differ by more than the tolerance, as in a diff.
    package static func differences(of found: String, from stored: String) -> [String] {
        let (found, stored) = (lines(found), lines(stored))
        return (0..<max(found.count, stored.count)).flatMap { index -> [String] in
            let old = index < stored.count ? stored[index] : nil
            let new = index < found.count ? found[index] : nil
            if let old, let new, old.name == new.name, old.numbers.count == new.numbers.count,
                zip(old.numbers, new.numbers).allSatisfy({ abs($0 - $1) <= tolerance })
            {
                return []
            }
            return [old.map { "- \($0.text)" }, new.map { "+ \($0.text)" }].compactMap { $0 }
        }
    }

    private static func lines(_ text: String) -> [(text: String, name: String, numbers: [Int])] {
        text.split(separator: "\n").map { line in
            let numbers = line.split(separator: " ").compactMap { Int($0) }
            let name = line.prefix { $0 == " " } + (line.split(separator: " ").first ?? "")
            return (String(line), String(name), numbers)
        }
    }
}
