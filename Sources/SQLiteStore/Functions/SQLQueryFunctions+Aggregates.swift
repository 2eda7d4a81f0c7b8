internal import CSQLite
internal import Foundation
internal import Predicates

/// The state of CoreDataSum and CoreDataAverage between rows; SQLite provides zeroed memory.
private struct RunningSum {
    /// The sum while all numbers are integers.
    var whole: Int64
    /// The sum after a non-integer, or after an integer overflow.
    var real: Double
    var count: Int64
    var isReal: Bool

    mutating func add(_ value: OpaquePointer?) {
        switch sqlite3_value_type(value) {
        case SQLITE_NULL: return
        case SQLITE_INTEGER where !isReal:
            let number = sqlite3_value_int64(value)
            let (sum, overflow) = whole.addingReportingOverflow(number)
            if overflow {
                isReal = true
                real = Double(whole) + Double(number)
            } else {
                whole = sum
            }
        default:
            if !isReal {
                isReal = true
                real = Double(whole)
            }
            real += sqlite3_value_double(value)
        }
        count += 1
    }
}

/// The values passed to CoreDataAggregate.
private final class CollectedValues {
    let name: String
    var values: [PropertyValue] = []
    init(_ name: String) { self.name = name }
}

extension SQLQueryFunctions {
    func addAggregates(to connection: OpaquePointer) throws {
        // number
        try add("CoreDataSum", 1, to: connection) { context, _, values in
            SQLQueryFunctions.addUp(context, values)
        } final: { context in
            guard let sum = SQLQueryFunctions.sum(context), sum.pointee.count > 0 else { return sqlite3_result_int64(context, 0) }
            if sum.pointee.isReal {
                sqlite3_result_double(context, sum.pointee.real)
            } else {
                sqlite3_result_int64(context, sum.pointee.whole)
            }
        }
        // number
        try add("CoreDataAverage", 1, to: connection) { context, _, values in
            SQLQueryFunctions.addUp(context, values)
        } final: { context in
            guard let sum = SQLQueryFunctions.sum(context), sum.pointee.count > 0 else { return sqlite3_result_null(context) }
            let total = sum.pointee.isReal ? sum.pointee.real : Double(sum.pointee.whole)
            sqlite3_result_double(context, total / Double(sum.pointee.count))
        }
        // name, kind, value
        try add("CoreDataAggregate", 3, to: connection) { context, _, values in
            guard let values, let held = SQLQueryFunctions.collected(context, name: values[0]) else { return }
            let value = SQLFunctionValue.read(values[2], SQLQueryFunctions.code(values[1], 0))
            if !value.isNull { held.values.append(value) }
        } final: { context in
            let place = sqlite3_aggregate_context(context, 0)?.assumingMemoryBound(to: UnsafeRawPointer?.self)
            guard let pointer = place?.pointee else {
                // There was no row.
                return sqlite3_result_null(context)
            }
            let held = Unmanaged<CollectedValues>.fromOpaque(pointer).takeRetainedValue()
            place?.pointee = nil
            SQLQueryFunctions.call(context) {
                SQLFunctionValue.write(try ValueOperations.aggregate(held.name, held.values, clause: held.name), context)
            }
        }
    }

    // SQLite owns the memory of an aggregate: zeros of the size that the first step requests, freed after the last step; the same memory for every
    // call of one group. It holds a `RunningSum`, for which zeros mean that there is none yet, or the address of a `CollectedValues` to which it owns
    // a reference.

    private static func sum(_ context: OpaquePointer?) -> UnsafeMutablePointer<RunningSum>? {
        sqlite3_aggregate_context(context, 0)?.assumingMemoryBound(to: RunningSum.self)
    }

    private static func addUp(_ context: OpaquePointer?, _ values: Arguments?) {
        let size = Int32(MemoryLayout<RunningSum>.stride)
        guard let values, let place = sqlite3_aggregate_context(context, size) else { return sqlite3_result_error_nomem(context) }
        place.assumingMemoryBound(to: RunningSum.self).pointee.add(values[0])
    }

    private static func collected(_ context: OpaquePointer?, name: OpaquePointer?) -> CollectedValues? {
        let size = Int32(MemoryLayout<UnsafeRawPointer?>.size)
        guard let place = sqlite3_aggregate_context(context, size)?.assumingMemoryBound(to: UnsafeRawPointer?.self) else {
            sqlite3_result_error_nomem(context)
            return nil
        }
        if let known = place.pointee { return Unmanaged<CollectedValues>.fromOpaque(known).takeUnretainedValue() }
        let held = CollectedValues(SQLFunctionValue.text(name))
        place.pointee = UnsafeRawPointer(Unmanaged.passRetained(held).toOpaque())
        return held
    }
}
