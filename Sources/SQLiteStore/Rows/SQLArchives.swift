internal import CSQLite
internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph

/// Reads values that are not plain columns, from any table.
enum SQLArchives {
    /// Returns the value of an archive, or the data itself if that is another thing, or contains an object of a class that is not there or not allowed.
    static func value(_ data: Data, _ attribute: NSAttributeDescription, _ path: String) throws -> Any {
        do {
            if let value = try AttributeArchive.value(of: data, attribute) { return value }
        } catch let damage as AttributeArchive.Damage {
            throw unreadable(attribute, "its archive is damaged. \(damage.reason)", path)
        } catch let refusal as ArchiveClassRefusal {
            Log.warnOnce(
                Log.store,
                "Values of “\(attribute)” stay bytes. \(refusal) Name the class as the attribute's own, or in the allowedTopLevelClasses of a transformer."
            )
        } catch {
            Log.store.debug("A value of \(attribute) stays bytes, for its archive cannot be opened: \(error)")
        }
        return data
    }

    /// Returns the decimal number of a column that is not NULL.
    static func decimal(
        _ statement: OpaquePointer, _ column: Int32, _ attribute: NSAttributeDescription, _ path: String
    ) throws -> Decimal {
        if sqlite3_column_type(statement, column) == SQLITE_INTEGER { return Decimal(sqlite3_column_int64(statement, column)) }
        // The shortest numeral of a floating-point number is the original decimal, if that had no more digits than the number can hold.
        let numeral =
            sqlite3_column_type(statement, column) == SQLITE_FLOAT
            ? "\(sqlite3_column_double(statement, column))" : SQLStatement.text(statement, column)
        if numeral == "NaN" { return .nan }
        if numeral.hasSuffix("inf") { throw unreadable(attribute, "its column holds “\(numeral)”, which Decimal does not", path) }
        guard let number = Decimal(string: numeral, locale: Locale(identifier: "en_US_POSIX")) else {
            throw unreadable(attribute, "its column holds “\(numeral)”, which is not a number", path)
        }
        return number
    }

    static func unreadable(_ attribute: NSAttributeDescription, _ reason: String, _ path: String) -> NSError {
        CoreDataError.make(
            NSCoreDataError, "A value of “\(attribute)” cannot be read from \(path).", reason: "Its row is damaged: \(reason).",
            next: "Fix the row, or give the attribute another type.", info: [NSFilePathErrorKey: path])
    }
}
