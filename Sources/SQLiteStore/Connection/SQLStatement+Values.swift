internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

extension SQLStatement {
    /// Binds a value in the form of columns.
    ///
    /// - Throws: Code 134060 for a value that columns cannot hold.
    func bind(_ value: PropertyValue, at index: Int) throws {
        switch value {
        case .null: bindNull(at: index)
        case .bool(let flag): bind(flag ? Int64(1) : 0, at: index)
        case .int64(let number): bind(number, at: index)
        case .double(let number): bind(number, at: index)
        case .decimal(let number):
            switch SQLDecimal(number) {
            case .integer(let whole): bind(whole, at: index)
            case .real(let double): bind(double, at: index)
            case .numeral(let digits): bind(digits, at: index)
            }
        case .string(let text): bind(text, at: index)
        case .date(let date): bind(date.timeIntervalSinceReferenceDate, at: index)
        case .data(let data): bind(data, at: index)
        case .uuid(let uuid): bind(withUnsafeBytes(of: uuid) { Data($0) }, at: index)
        case .url(let url): bind(url.absoluteString, at: index)
        case .object(let reference):
            guard let id = reference.object as? NSManagedObjectID, case .integer(let key) = id.reference else { throw unbindable(value) }
            bind(key, at: index)
        case .array, .set: throw unbindable(value)
        }
    }

    private func unbindable(_ value: PropertyValue) -> NSError {
        CoreDataError.make(NSCoreDataError, "A statement cannot be given \(value).", reason: "No column holds such a value.")
    }
}

/// A decimal number in the form of columns: as a number if that is exact, otherwise as a blob with its numeral, which the column's affinity does not
/// convert. As text, it would be rounded to the 15 digits of a floating-point number.
enum SQLDecimal {
    case integer(Int64)
    case real(Double)
    case numeral(Data)

    init(_ number: Decimal) {
        let numeral = number.description
        if let whole = Int64(numeral) {
            self = .integer(whole)
        } else if let double = Double(numeral), double.isFinite, Decimal(string: "\(double)") == number {
            self = .real(double)
        } else {
            self = .numeral(Data(numeral.utf8))
        }
    }
}
