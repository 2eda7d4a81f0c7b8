package import Logging

/// The loggers of the framework. A program chooses their destination with `LoggingSystem.bootstrap`.
package enum Log {
    package static let model = Logger(label: "coredata.model")
    static let context = Logger(label: "coredata.context")
    package static let store = Logger(label: "coredata.store")
    /// Logs SQL statements if requested, regardless of other log levels.
    package static let sql: Logger = {
        var logger = Logger(label: "coredata.sql")
        logger.logLevel = .debug
        return logger
    }()
}
