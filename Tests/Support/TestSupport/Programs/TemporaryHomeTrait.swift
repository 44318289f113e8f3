import Foundation
package import Testing

/// Gives each test of a suite, and each of its arguments, a home directory of its own: `TemporaryHome.ofTest`.
package struct TemporaryHomeTrait: SuiteTrait, TestTrait, TestScoping {
    @TaskLocal static var home: TemporaryHome?

    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
    ) async throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        try await Self.$home.withValue(home, operation: body)
    }
}

extension Trait where Self == TemporaryHomeTrait {
    package static var temporaryHome: TemporaryHomeTrait { TemporaryHomeTrait() }
}

extension TemporaryHome {
    /// The home of the test that runs, in a suite with the trait `.temporaryHome`. It is removed behind the test.
    package static var ofTest: TemporaryHome {
        guard let home = TemporaryHomeTrait.home else {
            preconditionFailure("the suite needs the trait .temporaryHome")
        }
        return home
    }

    /// Writes an executable shell script into `bin` and returns its path.
    @discardableResult
    package func script(_ name: String, _ text: String) throws -> String {
        let path = try file("bin/\(name)", "#!/bin/sh\n" + text + "\n")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        return path
    }

    package func text(_ name: String) throws -> String {
        try String(contentsOfFile: path + "/" + name, encoding: .utf8)
    }

    package func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path + "/" + name) }
}
