package import Testing

/// Runs the tests of a suite once in each of some browsers, one browser after the other.
package struct BrowserTrait: SuiteTrait, TestScoping {
    var kinds: [Browser.Kind]
    var acceptsInsecureCertificates: Bool

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
    ) async throws {
        for kind in kinds {
            let naming = IssueHandlingTrait.compactMapIssues { issue in
                var issue = issue
                issue.comments.append("in \(kind.rawValue)")
                return issue
            }
            try await Browser.run(
                kind, acceptsInsecureCertificates: acceptsInsecureCertificates
            ) { browser in
                try await Browser.$shared.withValue(browser) {
                    try await naming.provideScope(for: test, testCase: testCase, performing: body)
                }
            }
        }
        for kind in Browser.Kind.allCases where Browser.Kind.installed.firstIndex(of: kind) == nil {
            print(
                "\(test.name) was not tested in \(kind.rawValue), which 'scripts/bootstrap --tests' installs on Debian."
            )
        }
    }
}

extension Trait where Self == BrowserTrait {
    /// Once in each browser that is installed.
    package static var browser: BrowserTrait { browser() }

    package static func browser(
        _ kinds: [Browser.Kind] = Browser.Kind.installed, acceptsInsecureCertificates: Bool = false
    ) -> BrowserTrait {
        BrowserTrait(kinds: kinds, acceptsInsecureCertificates: acceptsInsecureCertificates)
    }
}
