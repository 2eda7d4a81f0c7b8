internal import CSQLite
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

extension SQLQueryFunctions {
    func addComposites(to connection: OpaquePointer) throws {
        // arguments: the names along the path to the element, the number of its type, the archive
        try add("CoreDataElement", 3, to: connection) { context, _, values in
            guard let values, sqlite3_value_type(values[2]) != SQLITE_NULL else { return sqlite3_result_null(context) }
            SQLQueryFunctions.call(context) {
                let path = SQLFunctionValue.text(values[0])
                guard let type = NSAttributeType(rawValue: UInt(sqlite3_value_int64(values[1]))),
                    case .data(let archive) = SQLFunctionValue.read(values[2], UInt8(ascii: "x"))
                else { return sqlite3_result_null(context) }
                var value: Any? = try AttributeArchive.composite(in: archive)
                for key in path.split(separator: ".") { value = (AttributeCheck.unwrapped(value) as? [String: Any])?[String(key)] }
                if type == .compositeAttributeType {
                    // Only its existence matters: elements are read from the column.
                    return SQLFunctionValue.write(AttributeCheck.unwrapped(value) == nil ? nil : true, context)
                }
                let element = NSAttributeDescription()
                element.attributeType = type
                SQLFunctionValue.write(try CompositeElements.value(value, of: element, at: path), context)
            }
        }
    }
}
