internal import Foundation
internal import Predicates

extension Row {
    /// Returns the value in an attribute's slot as a Foundation type.
    package func any(at slot: RowLayout.Slot, of attribute: NSAttributeDescription?) -> Any? {
        any(at: slot, isFloat: attribute?.attributeType == .floatAttributeType)
    }

    /// Returns the value in an attribute's slot as a Foundation type.
    ///
    /// - Parameter isFloat: Whether a binary number is one of 32 bits.
    @inline(__always) func any(at slot: RowLayout.Slot, isFloat: Bool) -> Any? {
        if isNil(at: slot) { return nil }
        let place = slots + slot.location.offset
        switch slot.kind {
        case .integer: return NSNumber(value: place.load(as: Int64.self))
        case .boolean: return NSNumber(value: place.load(as: Int64.self) != 0)
        case .double:
            let number = place.load(as: Double.self)
            return isFloat ? NSNumber(value: Float(number)) : NSNumber(value: number)
        case .date: return Date(timeIntervalSinceReferenceDate: place.load(as: Double.self))
        case .string: return text(at: slot)
        case .data: return data(at: slot)
        case .uuid: return place.load(as: UUID.self)
        case .box: return box(at: slot)?.value
        case .objectID: return objectID(at: slot)
        case .objectIDs: return objectIDs(at: slot)?.ids
        }
    }
}
