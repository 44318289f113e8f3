import ArgumentParser
import Foundation
import KVStoreServer

/// Ends a command with a text on standard error and a status of sysexits.h.
enum Failure {
    static func exit(_ text: String, code: Int32) -> ExitCode {
        StandardError.write("kvsd: \(text)")
        return ExitCode(code)
    }

    static func exit(_ error: DataDirectoryError) -> ExitCode {
        exit(error.description, code: error.exitCode)
    }

    static func exit(_ error: DeviceFileError) -> ExitCode {
        switch error {
        case .refused: exit(error.description, code: 65)
        case .system, .unreadable: exit(error.description, code: 74)
        }
    }
}

enum StandardError {
    static func write(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
}
