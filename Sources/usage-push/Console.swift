import ArgumentParser
import Foundation
import KVStore
import TerminalText
import UsagePusher

/// What the program says. Every text from outside is escaped on its way here.
enum Console {
    enum Volume: Int, Sendable, Comparable {
        case quiet
        case usual
        case verbose

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    static func say(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    static func note(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }

    /// An error, or what works less well than it should.
    static func complain(_ text: String) {
        let lines = VisibleText.escapedLines(text, limit: 40)
        note("usage-push: " + lines.joined(separator: "\n"))
    }
}

extension ExitCode {
    static let damagedData = ExitCode(65)
    static let noSource = ExitCode(66)
    static let storeUnavailable = ExitCode(69)
    static let cannotCreate = ExitCode(73)
    static let inputOutput = ExitCode(74)

    /// How the program ends when a push could not be stored.
    init(_ error: StoreError) {
        switch error.code {
        case .diskFull, .storage, .quotaExceeded, .tooManyKeys: self = .inputOutput
        default: self = .storeUnavailable
        }
    }
}

extension DeviceIdentityFile.Failure {
    var exitCode: ExitCode {
        switch self {
        case .notAnIdentity: .damagedData
        case .cannotRead: .inputOutput
        case .cannotWrite: .cannotCreate
        }
    }
}
