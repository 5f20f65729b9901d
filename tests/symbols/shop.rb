# total in a comment
require "set"
require_relative "store"

module Shops
  LIMIT = 10

  class Cart < Shelf
    attr_reader :size, :items

    def initialize(size)
      @size = size
    end

    def total(rate)
      text = "total #{total(1)} #{rate}"
      puts <<~TEXT
        total of it
      TEXT
      load_all(text).map { |item| item.cost }
    end

    def self.build!
      new(LIMIT)
    end

    alias sum total
  end
end
=begin
total
=end
Shops::Cart.build!
