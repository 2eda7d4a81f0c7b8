/// The address of a row's slots, for code that counts references by hand: it gives access to the prefix before the slots, to the slots, and to the
/// block around them.
///
/// It owns nothing. Its user ensures that the row's block is held meanwhile: an object by its reference to the block, a list by its own, a reader of
/// the cache by registering as a reader (``SQLDeferredRelease``). Rows lie only in blocks, so there is always a ``RowPrefix`` before the slots, which
/// states the distance to the beginning of the block.
@usableFromInline package struct SlotPointer {
    @usableFromInline let address: UnsafeMutableRawPointer

    @inlinable @inline(__always) package init(_ slots: UnsafeMutableRawPointer) { address = slots }

    /// nil for nil.
    @inlinable @inline(__always) package init?(_ slots: UnsafeMutableRawPointer?) {
        guard let slots else { return nil }
        address = slots
    }

    /// The prefix before the slots. The place is initialized when the row is begun, see `RowBlock.place(size:number:version:)`.
    @inlinable @inline(__always) package var prefix: UnsafeMutablePointer<RowPrefix> {
        (address - RowPrefix.size).assumingMemoryBound(to: RowPrefix.self)
    }

    /// The block in which the slots lie.
    @inlinable @inline(__always) package var block: Unmanaged<RowBlock> {
        Unmanaged.fromOpaque(address - Int(truncatingIfNeeded: prefix.pointee.offset))
    }

    /// Returns the place of a value, which the layout of the row has assigned to values of this type: so the memory is bound to it since the row was
    /// made.
    ///
    /// - Parameter offset: from the slots, within those of the layout.
    @inlinable @inline(__always) package func place<Value>(_ offset: Int, of type: Value.Type) -> UnsafeMutablePointer<Value> {
        #if COREDATA_INTERNAL_CHECKS
        checkPlace(offset, MemoryLayout<Value>.size, MemoryLayout<Value>.alignment)
        #endif
        return (address + offset).assumingMemoryBound(to: Value.self)
    }

    /// Returns a word of nil bits, or of the bits that mark packed values.
    @inlinable @inline(__always) package func bits(_ offset: Int) -> UnsafeMutablePointer<UInt64> { place(offset, of: UInt64.self) }
}

@_spi(Stores) extension Row {
    /// Calls `body` with the row that has these slots, without counting a reference. The caller holds the row's block.
    // A member of `Row`, and not of `SlotPointer`: `Row` is SPI, and only its own members can be inlined in other modules.
    @inlinable @inline(__always) package static func with<Result>(
        _ slots: UnsafeMutableRawPointer, _ body: (Row) throws -> Result
    ) rethrows -> Result {
        try SlotPointer(slots).block._withUnsafeGuaranteedRef { try body(Row(block: $0, slots: slots)) }
    }
}
