internal import Logging

/// The framework's loggers. A program chooses where they write with `LoggingSystem.bootstrap`.
enum Log {
    static let model = Logger(label: "coredata.model")
    static let context = Logger(label: "coredata.context")
    static let store = Logger(label: "coredata.store")
    /// Statements, where they are asked for: what is asked for is shown, whatever the level elsewhere.
    static let sql: Logger = {
        var logger = Logger(label: "coredata.sql")
        logger.logLevel = .debug
        return logger
    }()
}
