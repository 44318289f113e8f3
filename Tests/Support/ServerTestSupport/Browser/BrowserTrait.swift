package import Testing

/// Runs the tests of a suite once in each of some browsers, one browser after the other. Prints which of them are not
/// installed, and skips those.
package struct BrowserTrait: SuiteTrait, TestScoping {
    var kinds: [Browser.Kind]
    var acceptsInsecureCertificates: Bool

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
    ) async throws {
        for kind in kinds {
            guard kind.isInstalled else {
                print("\(test.displayName ?? test.name): \(kind.rawValue) is not installed.")
                continue
            }
            let naming = IssueHandlingTrait.compactMapIssues { issue in
                var issue = issue
                issue.comments.append("in \(kind.rawValue)")
                return issue
            }
            try await Browser.run(kind, acceptsInsecureCertificates: acceptsInsecureCertificates) { browser in
                try await Browser.$shared.withValue(browser) {
                    try await naming.provideScope(for: test, testCase: testCase, performing: body)
                }
            }
        }
    }
}

extension Trait where Self == BrowserTrait {
    /// In all browsers.
    package static var browser: BrowserTrait { browser() }

    package static func browser(
        _ kinds: [Browser.Kind] = Browser.Kind.allCases, acceptsInsecureCertificates: Bool = false
    ) -> BrowserTrait {
        BrowserTrait(kinds: kinds, acceptsInsecureCertificates: acceptsInsecureCertificates)
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips a suite on a machine without any of the browsers.
    package static var requiresBrowser: ConditionTrait {
        .disabled(if: Browser.Kind.installed.isEmpty, "neither Chromium nor Firefox is installed")
    }

    package static var requiresAxe: ConditionTrait {
        .enabled(if: Browser.hasAxe, "scripts/bootstrap --tests has not installed axe-core")
    }

    /// For tests of the layout of a page.
    package static var requiresStableFonts: ConditionTrait {
        .enabled(if: BrowserFonts.areInstalled, "fonts-dejavu-core is not installed")
    }
}
