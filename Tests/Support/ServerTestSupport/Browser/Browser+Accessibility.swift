import Foundation
import StoreTestSupport
package import Testing

/// The rules of axe-core, which finds some of the accessibility violations of a page.
extension Browser {
    private static let axe = Repository.root.appending(path: ".build/axe-core/axe.min.js")

    /// Whether axe-core is installed, as `scripts/bootstrap --tests` does.
    static let hasAxe = FileManager.default.fileExists(atPath: axe.path)

    /// The violations of the current page of axe-core's rules with these tags.
    package func axe(
        tags: [String] = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
    ) async throws -> [Violation] {
        let rules = try String(contentsOf: Self.axe, encoding: .utf8)
        let names = String(decoding: try JSONEncoder().encode(tags), as: UTF8.self)
        let found = try await executeAsync(
            """
            \(rules)
            window.axe.run(document, { runOnly: \(names), resultTypes: ['violations'] }).then(
                result => done(JSON.stringify(result.violations.flatMap(({ id, help, nodes }) =>
                    nodes.map(node => ({ rule: id, help, element: node.html, selector: node.target.join(' ') }))))),
                error => done(String(error)));
            """)
        return try JSONDecoder().decode([Violation].self, from: Data(try #require(found as? String).utf8))
    }

    /// Expects that the current page violates no rule; does nothing where axe-core is not installed.
    package func expectNoViolations(at location: SourceLocation = #_sourceLocation) async throws {
        guard Self.hasAxe else { return }
        let violations = try await axe()
        #expect(violations.isEmpty, "\(violations)", sourceLocation: location)
    }

    package struct Violation: Decodable, Sendable {
        /// Its id, explained at https://dequeuniversity.com/rules/axe.
        package var rule: String
        package var help: String
        package var element: String
        package var selector: String
    }
}
