internal import Logging

/// The framework's loggers. A program chooses where they write with `LoggingSystem.bootstrap`.
enum Log {
    static let model = Logger(label: "coredata.model")
    static let context = Logger(label: "coredata.context")
    static let store = Logger(label: "coredata.store")
}
